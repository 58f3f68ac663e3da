"""One run of a detector: request, rows, task and budget; notes and caveats; the detector card."""
