"""Regions of images."""
from values import Unsupported
from .table import c_bool, operator


@operator("RoiAlign")
def roi_align(c, n):
    x, rois, a = c.value(n, 0), c.value(n, 1), n.attributes
    if a.get("mode", "avg") != "avg" or not a.get("sampling_ratio"):
        raise Unsupported("the largest of samples, as many samples as there are elements")
    height, width = a["output_height"], a["output_width"]
    half = a.get("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    numbers = f"{height}, {width}, {a['sampling_ratio']}, {a.get('spatial_scale', 1)}, {c_bool(half)}"
    c.result(n, x.dtype, [rois.shape[0], x.shape[1], height, width],
             f"onnx_roi_align({c.tensor(x)}, {c.tensor(rois)}, {c.tensor(c.value(n, 2))}, {numbers})")
