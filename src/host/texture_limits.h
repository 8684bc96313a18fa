// Size limits of arrays, textures and surfaces of the host machine: those of current GPUs.
#pragma once

#include "PyGPU/vendor/host.h"

namespace PyGPU::host {

// Return the value of a texture or surface limit; 0 for any other attribute.
constexpr int texture_limit(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxTexture1DWidth: return 131072;
    case cudaDevAttrMaxTexture2DWidth: return 131072;
    case cudaDevAttrMaxTexture2DHeight: return 65536;
    case cudaDevAttrMaxTexture3DWidth:
    case cudaDevAttrMaxTexture3DHeight:
    case cudaDevAttrMaxTexture3DDepth: return 16384;
    case cudaDevAttrMaxTexture1DLayeredWidth:
    case cudaDevAttrMaxTexture2DLayeredWidth:
    case cudaDevAttrMaxTexture2DLayeredHeight: return 32768;
    case cudaDevAttrMaxTexture1DLayeredLayers:
    case cudaDevAttrMaxTexture2DLayeredLayers: return 2048;
    case cudaDevAttrMaxTexture2DGatherWidth:
    case cudaDevAttrMaxTexture2DGatherHeight: return 32768;
    case cudaDevAttrMaxTextureCubemapWidth:
    case cudaDevAttrMaxTextureCubemapLayeredWidth: return 32768;
    case cudaDevAttrMaxTextureCubemapLayeredLayers: return 2046;
    case cudaDevAttrMaxTexture1DLinearWidth: return 1 << 28;
    case cudaDevAttrMaxTexture2DLinearWidth: return 131072;
    case cudaDevAttrMaxTexture2DLinearHeight: return 65000;
    case cudaDevAttrMaxTexture2DLinearPitch: return 2097120;
    case cudaDevAttrMaxSurface1DWidth: return 32768;
    case cudaDevAttrMaxSurface2DWidth: return 131072;
    case cudaDevAttrMaxSurface2DHeight: return 65536;
    case cudaDevAttrMaxSurface3DWidth:
    case cudaDevAttrMaxSurface3DHeight:
    case cudaDevAttrMaxSurface3DDepth: return 16384;
    case cudaDevAttrMaxSurface1DLayeredWidth:
    case cudaDevAttrMaxSurface2DLayeredWidth:
    case cudaDevAttrMaxSurface2DLayeredHeight: return 32768;
    case cudaDevAttrMaxSurface1DLayeredLayers:
    case cudaDevAttrMaxSurface2DLayeredLayers: return 2048;
    case cudaDevAttrTextureAlignment:
    case cudaDevAttrSurfaceAlignment: return 512;
    case cudaDevAttrTexturePitchAlignment: return 32;
    default: return 0;
  }
}

}  // namespace PyGPU::host
