/* Sharing buffers and images with OpenGL: the public interface of cuda_gl_interop.h. */
#ifndef SLUICE_CUDA_GL_INTEROP_H
#define SLUICE_CUDA_GL_INTEROP_H

#include <GL/gl.h>
#include "cuda_runtime_api.h"

enum cudaGLDeviceList { cudaGLDeviceListAll = 1, cudaGLDeviceListCurrentFrame = 2, cudaGLDeviceListNextFrame = 3 };
enum cudaGLMapFlags { cudaGLMapFlagsNone = 0, cudaGLMapFlagsReadOnly = 1, cudaGLMapFlagsWriteDiscard = 2 };

extern "C" {
cudaError_t cudaGLGetDevices(unsigned int *count, int *devices, unsigned int room, enum cudaGLDeviceList list);
cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource_t *resource, GLuint buffer, unsigned int flags);
cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource_t *resource, GLuint image, GLenum target,
                                        unsigned int flags);
cudaError_t cudaGLSetGLDevice(int device);
cudaError_t cudaGLRegisterBufferObject(GLuint buffer);
cudaError_t cudaGLMapBufferObject(void **p, GLuint buffer);
cudaError_t cudaGLMapBufferObjectAsync(void **p, GLuint buffer, cudaStream_t stream);
cudaError_t cudaGLUnmapBufferObject(GLuint buffer);
cudaError_t cudaGLUnmapBufferObjectAsync(GLuint buffer, cudaStream_t stream);
cudaError_t cudaGLUnregisterBufferObject(GLuint buffer);
cudaError_t cudaGLSetBufferObjectMapFlags(GLuint buffer, unsigned int flags);
}

#endif
