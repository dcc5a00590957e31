"""start.test.py COMMAND...: the least processor time of 12 runs; exit status 1 where it is above 15 ms."""
import resource
import subprocess
import sys


def milliseconds():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


least = min(milliseconds() for _ in range(12))
print(f"started in {least:.1f} ms")
sys.exit(least > 15)
