"""Masks of many cells, one bit each."""

from collections.abc import Iterator

import numpy as np

_NUMBERS = 10**7  # that masks of some cells take once they are unpacked
WHOLE = 2**24  # up to which single precision counts exactly


class PackedMasks:
    """Masks of cells in one bit each: 1,000 masks of a million cells take 125 MB, not 1 GB.

    Parameters
    ----------
    bits : ndarray of uint8, shape (..., ceil(n_cells / 8))
        As from `numpy.packbits`.
    """

    def __init__(self, bits: np.ndarray, n_cells: int) -> None:
        self.bits, self.n_cells = bits, n_cells

    @classmethod
    def of(cls, masks: "np.ndarray | PackedMasks") -> "PackedMasks":
        """Return masks, of shape (..., n_cells), packed; packed ones as they are."""
        if isinstance(masks, PackedMasks):
            return masks
        return cls(np.packbits(masks, axis=-1), masks.shape[-1])

    def __len__(self) -> int:
        return len(self.bits)

    def __getitem__(self, rows: int | np.ndarray) -> "PackedMasks":
        return PackedMasks(self.bits[rows], self.n_cells)

    def joined(self, other: "PackedMasks") -> "PackedMasks":
        """Return these masks and then others."""
        return PackedMasks(np.concatenate([self.bits, other.bits]), self.n_cells)

    def unpacked(self) -> np.ndarray:
        """Return the masks as booleans, shape (..., n_cells)."""
        return np.unpackbits(self.bits, axis=-1, count=self.n_cells).view(bool)

    def at(self, cells: np.ndarray) -> np.ndarray:
        """Return the masks at some cells, as booleans."""
        return (self.bits[..., cells >> 3] >> (7 - (cells & 7)).astype(np.uint8) & 1).view(bool)

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of cells, and the masks at these, as booleans.

        There are so few cells that the masks as numbers take little memory, and that sums over them
        are exact in single precision.
        """
        step = min(max(_NUMBERS // max(len(self), 1), 8), WHOLE) // 8
        for start in range(0, self.bits.shape[-1], step):
            cells = slice(8 * start, min(8 * (start + step), self.n_cells))
            bits = self.bits[..., start : start + step]
            yield cells, np.unpackbits(bits, axis=-1, count=cells.stop - cells.start).view(bool)
