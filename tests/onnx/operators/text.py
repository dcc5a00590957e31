"""Counts of n-grams of tokens that are numbers."""
from values import Unsupported, ints
from .table import operator


def grams(n):
    """Pairs of the tokens of an n-gram and its column."""
    pool, counts = n.attributes["pool_int64s"], [*n.attributes["ngram_counts"], len(n.attributes["pool_int64s"])]
    found = []
    for length, (first, end) in enumerate(zip(counts, counts[1:]), 1):
        found += [pool[i:i + length] for i in range(first, end, length)]
    return list(zip(found, n.attributes["ngram_indexes"]))


@operator("TfIdfVectorizer")
def term_counts(c, n):
    """How often the tokens follow each other, up to `skips` others between them."""
    x, a = c.value(n, 0), n.attributes
    if a["mode"] != "TF" or a["max_gram_length"] > 2:
        raise Unsupported("weights of terms, more than two tokens")
    t, length, counts, most = c.tensor(x), x.shape[-1], c.identifier("counts"), max(a["ngram_indexes"]) + 1
    c.say(f"const tc_tensor *{counts}[{most}];")
    for tokens, column in grams(n):
        none = f"{counts}[{column}] = tc_zeros({ints(x.shape[:-1])}, TC_I64);"
        if len(tokens) == 1:
            c.say(f"{counts}[{column}] = tc_sum(tc_eq_s({t}, {tokens[0]}), TC_AXES(-1), false);" if a["min_gram_length"] == 1 else none)
            continue
        c.say(none)
        first, second = (f"tc_eq_s(tc_slice({t}, -1, {at}, 1), {token})" for at, token in zip((f"0, {length} - d", f"d, {length}"), tokens))
        c.say(f"for (int d = 1; d <= {min(a['max_skip_count'] + 1, length - 1)}; d++)")
        c.say(f"  {counts}[{column}] = tc_add({counts}[{column}], tc_sum(tc_logical_and({first}, {second}), TC_AXES(-1), false));")
    c.result(n, "f32", [*x.shape[:-1], most], f"tc_cast(tc_stack({counts}, {most}, -1), TC_F32)")
