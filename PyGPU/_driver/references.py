"""What took the place of texture and surface references."""

NO_REFERENCES = (
    "texture and surface references are gone since CUDA 12: make a PyGPU.driver.TextureObject or "
    "SurfaceObject and pass it to the kernel as a cudaTextureObject_t or cudaSurfaceObject_t"
)
