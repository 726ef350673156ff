// The parts of metal_stdlib that naga's Metal uses, in C++ for NVRTC and for a host compiler.
#pragma once
#ifdef __CUDACC__
#define FN static __device__ INLINE
#define KERNEL(threads) __global__ __launch_bounds__(threads)
#else
#define KERNEL(threads)
#include <cmath>
#include <cstdint>
#include <cstring>
#define FN static inline
#define __shared__ static
#define __restrict__ __restrict
struct Dim3 { unsigned x, y, z; };
static Dim3 threadIdx, blockIdx, gridDim;
static inline void __syncthreads() {}
#endif
// address spaces and entry points; references to private memory vanish when everything is inlined
#define device
#define thread
#define threadgroup
#define constant const

typedef unsigned uint;
typedef unsigned char uchar;

template <class T, class S> FN T as_type(S s) {
  static_assert(sizeof(T) == sizeof(S), "");
  T t;
  memcpy(&t, &s, sizeof t);
  return t;
}

namespace metal {
typedef ::uint uint;

#define VECTORS(T, B, L2, L3, L4)                                                                        \
  struct alignas(8) L2 { T x, y; FN2 L2() : x(), y() {} FN2 L2(T a) : x(a), y(a) {} FN2 L2(T a, T b) : x(a), y(b) {} };                  \
  struct L3 { T x, y, z; FN2 L3() : x(), y(), z() {} FN2 L3(T a) : x(a), y(a), z(a) {} FN2 L3(T a, T b, T c) : x(a), y(b), z(c) {} };  \
  struct alignas(sizeof(T) * 4) L4 {                                                                                  \
    T x, y, z, w;                                                                                        \
    FN2 L4() : x(), y(), z(), w() {}                                                                     \
    FN2 L4(T a) : x(a), y(a), z(a), w(a) {}                                                              \
    FN2 L4(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}                                               \
    FN2 T& operator[](uint i) { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }                       \
    FN2 T operator[](uint i) const { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }                  \
  };
#ifdef __CUDACC__
#define FN2 __device__ __forceinline__
#else
#define FN2 inline
#endif
VECTORS(uint, bool, uint2, uint3, uint4)
VECTORS(int, bool, int2, int3, int4)
VECTORS(float, bool, float2, float3, float4)
VECTORS(bool, bool, bool2, bool3, bool4)

#define LANEWISE(T, R, op) \
  FN R operator op(T a, T b) { return R(a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w); }
LANEWISE(uint4, uint4, |) LANEWISE(uint4, uint4, &) LANEWISE(uint4, uint4, ^) LANEWISE(uint4, uint4, +) LANEWISE(uint4, uint4, -)
LANEWISE(uint4, uint4, *) LANEWISE(uint4, uint4, <<) LANEWISE(uint4, uint4, >>)
LANEWISE(uint4, bool4, ==) LANEWISE(uint4, bool4, !=) LANEWISE(uint4, bool4, <)
FN bool2 operator==(uint2 a, uint2 b) { return bool2(a.x == b.x, a.y == b.y); }
FN bool all(bool2 v) { return v.x & v.y; }
FN bool all(bool4 v) { return v.x & v.y & v.z & v.w; }
FN bool any(bool4 v) { return v.x | v.y | v.z | v.w; }

template <class T> FN T min(T a, T b) { return a < b ? a : b; }
template <class T> FN T max(T a, T b) { return a > b ? a : b; }
template <class T> FN T clamp(T x, T a, T b) { return min(max(x, a), b); }
template <class T> FN T select(T no, T yes, bool which) { return which ? yes : no; }
#ifdef __CUDACC__
FN float floor(float x) { return ::floorf(x); }
FN float fma(float a, float b, float c) { return ::__fmaf_rn(a, b, c); }
FN uint clz(uint x) { return __clz(x); }
FN uint popcount(uint x) { return __popc(x); }
FN uint reverse_bits(uint x) { return __brev(x); }
#else
FN float floor(float x) { return std::floor(x); }
FN float fma(float a, float b, float c) { return std::fma(a, b, c); }
FN uint clz(uint x) { return x ? __builtin_clz(x) : 32; }
FN uint popcount(uint x) { return __builtin_popcount(x); }
FN uint reverse_bits(uint x) {
  uint r = 0;
  for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i);
  return r;
}
#endif

enum memory_order { memory_order_relaxed };
enum class mem_flags { mem_none, mem_device, mem_threadgroup };
FN void threadgroup_barrier(mem_flags) { __syncthreads(); }
typedef uint atomic_uint;
typedef int atomic_int;
#ifdef __CUDACC__
FN uint atomic_fetch_add_explicit(uint* a, uint v, memory_order) { return atomicAdd(a, v); }
FN uint atomic_fetch_max_explicit(uint* a, uint v, memory_order) { return atomicMax(a, v); }
#else
FN uint atomic_fetch_add_explicit(uint* a, uint v, memory_order) { uint b = *a; *a += v; return b; }
FN uint atomic_fetch_max_explicit(uint* a, uint v, memory_order) { uint b = *a; *a = max(b, v); return b; }
#endif
FN uint atomic_load_explicit(const volatile uint* a, memory_order) { return *a; }
FN void atomic_store_explicit(volatile uint* a, uint v, memory_order) { *a = v; }
}  // namespace metal

// dot4U8Packed, which drivers have an instruction for
#ifdef __CUDACC__
FN uint byte_dot_product(uint a, uint b) { return __dp4a(a, b, 0u); }
#else
FN uint byte_dot_product(uint a, uint b) { uint s = 0; for (int i = 0; i < 32; i += 8) s += (a >> i & 255) * (b >> i & 255); return s; }
#endif
