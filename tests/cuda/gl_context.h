/* gl_context.h - an OpenGL context without a window or a graphics device: EGL's surfaceless platform, drawn by Mesa. */
#ifndef TESTS_CUDA_GL_CONTEXT_H
#define TESTS_CUDA_GL_CONTEXT_H

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdio.h>
#include <stdlib.h>

static EGLDisplay gl_display;
static EGLContext gl_context;

/* Entry points that libGL need not export. X(type, name) */
#define GL_NAMES(X)                                                                                       \
  X(PFNGLGENBUFFERSPROC, GenBuffers)                                                                      \
  X(PFNGLDELETEBUFFERSPROC, DeleteBuffers)                                                                \
  X(PFNGLBINDBUFFERPROC, BindBuffer)                                                                      \
  X(PFNGLBUFFERDATAPROC, BufferData)                                                                      \
  X(PFNGLBUFFERSTORAGEPROC, BufferStorage)                                                                \
  X(PFNGLGETBUFFERSUBDATAPROC, GetBufferSubData)                                                          \
  X(PFNGLMAPBUFFERRANGEPROC, MapBufferRange)                                                              \
  X(PFNGLUNMAPBUFFERPROC, UnmapBuffer)                                                                    \
  X(PFNGLTEXIMAGE3DPROC, TexImage3D)                                                                      \
  X(PFNGLTEXSTORAGE3DPROC, TexStorage3D)                                                                  \
  X(PFNGLTEXSUBIMAGE3DPROC, TexSubImage3D)                                                                \
  X(PFNGLGENFRAMEBUFFERSPROC, GenFramebuffers)                                                            \
  X(PFNGLBINDFRAMEBUFFERPROC, BindFramebuffer)                                                            \
  X(PFNGLFRAMEBUFFERTEXTURE2DPROC, FramebufferTexture2D)                                                  \
  X(PFNGLFRAMEBUFFERRENDERBUFFERPROC, FramebufferRenderbuffer)                                            \
  X(PFNGLGENRENDERBUFFERSPROC, GenRenderbuffers)                                                          \
  X(PFNGLBINDRENDERBUFFERPROC, BindRenderbuffer)                                                          \
  X(PFNGLRENDERBUFFERSTORAGEPROC, RenderbufferStorage)                                                    \
  X(PFNGLGETSTRINGIPROC, GetStringi)                                                                      \
  X(void (*)(GLenum, GLint *), GetIntegerv)                                                               \
  X(GLenum (*)(void), GetError)                                                                           \
  X(const GLubyte *(*)(GLenum), GetString)                                                                \
  X(void (*)(GLsizei, GLuint *), GenTextures)                                                             \
  X(void (*)(GLenum, GLuint), BindTexture)                                                                \
  X(void (*)(GLenum, GLint, GLint, GLsizei, GLsizei, GLint, GLenum, GLenum, const void *), TexImage2D)    \
  X(void (*)(GLenum, GLint, GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, const void *), TexSubImage2D) \
  X(void (*)(GLenum, GLint, GLenum, GLenum, void *), GetTexImage)                                         \
  X(void (*)(GLenum, GLint), PixelStorei)                                                                 \
  X(void (*)(GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void *), ReadPixels)                         \
  X(void (*)(GLint, GLint, GLsizei, GLsizei), Viewport)                                                   \
  X(void (*)(GLfloat, GLfloat, GLfloat, GLfloat), ClearColor)                                             \
  X(void (*)(GLfloat, GLfloat, GLfloat), Color3f)                                                         \
  X(void (*)(GLbitfield), Clear)                                                                          \
  X(void (*)(GLenum), Enable)                                                                             \
  X(void (*)(GLenum), EnableClientState)                                                                  \
  X(void (*)(GLint, GLenum, GLsizei, const void *), VertexPointer)                                        \
  X(void (*)(GLenum, GLint, GLsizei), DrawArrays)
static struct {
#define GL_FIELD(type, name) decltype((type)0) name;
  GL_NAMES(GL_FIELD)
#undef GL_FIELD
} gl;

static void gl_begin(EGLenum api) {
  PFNEGLGETPLATFORMDISPLAYEXTPROC display =
      (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
  const EGLint want[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE,
                         api == EGL_OPENGL_API ? EGL_OPENGL_BIT : EGL_OPENGL_ES3_BIT, EGL_NONE};
  const EGLint version3[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
  EGLConfig config;
  EGLint n = 0;
  gl_display = display ? display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL) : EGL_NO_DISPLAY;
  if (!eglInitialize(gl_display, NULL, NULL) || !eglBindAPI(api) ||
      !eglChooseConfig(gl_display, want, &config, 1, &n)) {
    printf("no OpenGL: EGL error 0x%x\n", eglGetError());
    exit(1);
  }
  gl_context = eglCreateContext(gl_display, config, EGL_NO_CONTEXT, api == EGL_OPENGL_API ? NULL : version3);
  if (!eglMakeCurrent(gl_display, EGL_NO_SURFACE, EGL_NO_SURFACE, gl_context)) {
    printf("no OpenGL context: EGL error 0x%x\n", eglGetError());
    exit(1);
  }
#define GL_FIND(type, name) gl.name = (type)eglGetProcAddress("gl" #name);
  GL_NAMES(GL_FIND)
#undef GL_FIND
}

static int gl_bound(GLenum what) {
  GLint v = 0;
  gl.GetIntegerv(what, &v);
  return v;
}
#endif
