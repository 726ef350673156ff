/* nvrtc ARCH kernel.cu metal-shim.h: prints the PTX that NVIDIA's compiler of CUDA C++ makes of a
 * kernel, and on standard error the CPU seconds. */
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) { perror(path); exit(1); }
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *text = malloc(size + 1);
  if (fread(text, 1, size, file) != (size_t)size) { perror(path); exit(1); }
  text[size] = 0;
  fclose(file);
  return text;
}

int main(int count, char **args) {
  if (count != 4) { fprintf(stderr, "usage: nvrtc ARCH kernel.cu metal-shim.h\n"); return 1; }
  const char *source = read_file(args[2]), *header = read_file(args[3]), *name = "metal-shim.h";
  char arch[64];
  snprintf(arch, sizeof arch, "--gpu-architecture=compute_%s", args[1]);
  /* drivers of Vulkan inline every function */
  const char *options[] = {arch, "-std=c++17", "-DINLINE=__forceinline__", "-w", "--device-as-default-execution-space"};
  nvrtcProgram program;
  nvrtcCreateProgram(&program, source, "kernel.cu", 1, &header, &name);
  nvrtcResult result = nvrtcCompileProgram(program, sizeof options / sizeof *options, options);
  size_t size = 0;
  if (result != NVRTC_SUCCESS) {
    nvrtcGetProgramLogSize(program, &size);
    char *log = malloc(size);
    nvrtcGetProgramLog(program, log);
    fprintf(stderr, "%s\n%s", nvrtcGetErrorString(result), log);
    return 1;
  }
  nvrtcGetPTXSize(program, &size);
  char *ptx = malloc(size);
  nvrtcGetPTX(program, ptx);
  fputs(ptx, stdout);
  fprintf(stderr, "%.3f\n", (double)clock() / CLOCKS_PER_SEC);
  return 0;
}
