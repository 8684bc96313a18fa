"""What GPUArray's functions do."""
