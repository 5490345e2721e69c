"""What can be said of an image without a model: a pure function of its bytes that never raises."""

import io
from collections import Counter

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from actors.image_features import TOO_MUCH, ImageFeatures, said, unseen
from actors.perception.colours import lab, named
from actors.perception.naming import listed

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF", "PPM", "ICO")
"""Formats that are decoded in the process itself; others run programs (EPS) or are too rare to trust."""
_TURNED = 0x0112
"""The EXIF tag that tells how the camera was held."""
_SMALL = 128
_PATCH = 256
_GRID = 8
_HASH = 16
_STEP = 2
"""Grey levels by which neighbours must differ to make a bit of the hash: less is noise."""
_COLOURS = 6
_MAIN = 0.15
_BLANK = 1.5
"""Deviation of the colours, in units of L*a*b*, below which there is nothing to see."""
_FLAT = 0.55
"""Share of neighbouring pixels exactly alike, above which an image was drawn, not photographed."""


def look(data: bytes, most_pixels: int) -> ImageFeatures:
    """Look at an encoded image; damaged, unknown or too large ones give a ``problem``.

    Dimensions are read before anything is decoded, so a small file that claims to be huge costs nothing.
    """
    size = said(len(data))
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            width, height, kind = image.width, image.height, image.format or "image"
            if width * height > most_pixels:
                return unseen(f"{kind} {width}×{height} ({size})", "too large to look at")
            image.verify()
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            return _seen(image, kind, width, height)
    except Image.DecompressionBombError:
        return unseen(size, "too large to look at")
    except MemoryError:
        return unseen(size, TOO_MUCH)
    except UnidentifiedImageError:
        return unseen(size, "in no format I know")
    except Exception:  # noqa: BLE001  # decoders of hostile bytes raise anything
        return unseen(size, "damaged or cut off")


def _seen(image: Image.Image, kind: str, width: int, height: int) -> ImageFeatures:
    animated = bool(getattr(image, "is_animated", False))  # ``n_frames`` decodes them all
    drawn = kind != "JPEG" and _drawn(image)
    if image.getexif().get(_TURNED, 1) in {5, 6, 7, 8}:
        width, height = height, width
    small = _small(image)
    pixels = np.asarray(small)
    light = lab(pixels)
    parts = [f"image, {'animated ' if animated else ''}{kind} {width}×{height}", _orientation(width, height)]
    shares = _shares(small)
    colours = [name for name, share in shares if share >= _MAIN][:3]
    chroma = float(np.hypot(light[..., 1], light[..., 2]).mean())
    if light.reshape(-1, 3).std(axis=0).max() < _BLANK:
        parts.append(f"blank, all {shares[0][0]}")
    else:
        parts += [f"mostly {listed(colours or [shares[0][0]])}", *_light(light[..., 0])]
        if chroma < 3:  # noqa: PLR2004  # below what an eye calls coloured
            parts.append("without colour")
        if drawn:
            parts.append("looks like a screenshot or drawing")
    return ImageFeatures(", ".join(p for p in parts if p), "", _hash(small), _grid(small))


def _small(image: Image.Image) -> Image.Image:
    """Upright RGB, at most 128 pixels a side, on white where transparent."""
    if image.mode == "F" or image.mode.startswith("I"):
        values = np.asarray(image, np.float64)
        low, high = float(values.min()), float(values.max())
        image = Image.fromarray(((values - low) * (255 / max(high - low, 1e-9))).astype(np.uint8))
    elif image.has_transparency_data:
        image = image.convert("RGBA")
    elif image.mode != "RGB":
        image = image if image.format == "JPEG" and image.mode == "L" else image.convert("RGB")
    image.thumbnail((_SMALL, _SMALL), Image.Resampling.BOX)
    image = ImageOps.exif_transpose(image)
    if image.mode == "RGBA":
        ground = Image.new("RGB", image.size, "white")
        ground.paste(image, mask=image.getchannel("A"))
        return ground
    return image.convert("RGB")


def _drawn(image: Image.Image) -> bool:
    """Whether flat areas with sharp edges fill the middle, as on a screen."""
    left, top = max(0, (image.width - _PATCH) // 2), max(0, (image.height - _PATCH) // 2)
    patch = image.crop((left, top, left + min(_PATCH, image.width), top + min(_PATCH, image.height)))
    pixels = np.asarray(patch.convert("RGB"))
    if pixels.shape[1] < _GRID:
        return False
    alike = (pixels[:, 1:] == pixels[:, :-1]).all(axis=-1).mean()
    return bool(alike >= _FLAT and (pixels != pixels[0, 0]).any())


def _orientation(width: int, height: int) -> str:
    ratio = width / height
    if ratio >= 2.5 or ratio <= 0.4:  # noqa: PLR2004  # wider than a cinema screen
        return "wide" if ratio > 1 else "tall"
    if 0.95 <= ratio <= 1.05:  # noqa: PLR2004  # to the eye
        return "square"
    return "landscape" if ratio > 1 else "portrait"


def _shares(small: Image.Image) -> list[tuple[str, float]]:
    """(Colour name, share of the pixels), largest first."""
    reduced = small.quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    palette = reduced.getpalette() or []
    shares: Counter[str] = Counter()
    for count, index in reduced.getcolors() or []:
        place = 3 * int(index)  # type: ignore[arg-type]  # an index in a palette image
        shares[named(*palette[place : place + 3])] += count
    total = shares.total()
    return sorted(((name, n / total) for name, n in shares.items()), key=lambda item: (-item[1], item[0]))


def _light(light: NDArray[np.float64]) -> list[str]:
    """Brightness and contrast in words, where they are worth a word."""
    mean, spread = float(light.mean()), float(light.std())
    bounds = ((12, "very dark"), (32, "dark"), (72, ""), (90, "bright"), (101, "very bright"))
    brightness = next(word for bound, word in bounds if mean < bound)
    contrast = "low contrast" if spread < 8 else "high contrast" if spread > 30 else ""  # noqa: PLR2004  # L* units
    return [brightness, contrast]


def _hash(small: Image.Image) -> bytes:
    grey = np.asarray(small.convert("L").resize((_HASH + 1, _HASH), Image.Resampling.BOX)).astype(int)
    return np.packbits(grey[:, 1:] > grey[:, :-1] + _STEP).tobytes()


def _grid(small: Image.Image) -> bytes:
    return small.resize((_GRID, _GRID), Image.Resampling.BOX).tobytes()
