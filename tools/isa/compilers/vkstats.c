// vkstats: compiles one SPIR-V compute shader with whatever Vulkan driver the loader finds, and prints the driver's own statistics
// (VK_KHR_pipeline_executable_properties): registers, spills, instructions, occupancy. Nothing is executed, so a driver on a fake
// device (a Mesa DRM shim) will do.   usage: vkstats shader.spv [entry point]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vulkan.h>

#define CHECK(call) do { VkResult r_ = (call); if (r_ != VK_SUCCESS) { fprintf(stderr, "%s: VkResult %d\n", #call, r_); exit(1); } } while (0)
enum { MAX_BINDINGS = 32 };

static uint32_t *read_words(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  if (!f) { perror(path); exit(1); }
  fseek(f, 0, SEEK_END); *bytes = (size_t)ftell(f); rewind(f);
  uint32_t *words = malloc(*bytes);
  if (fread(words, 1, *bytes, f) != *bytes) { perror(path); exit(1); }
  fclose(f);
  return words;
}

// The bindings of set 0: their numbers from OpDecorate, their kinds from the storage class of OpVariable.
static uint32_t bindings_of(const uint32_t *w, size_t count, VkDescriptorSetLayoutBinding *out) {
  struct { uint32_t id, binding; } seen[MAX_BINDINGS];
  uint32_t n = 0, made = 0;
  for (size_t i = 5; i < count; i += w[i] >> 16)
    if ((w[i] & 0xffff) == 71 && w[i + 2] == 33 && n < MAX_BINDINGS) { seen[n].id = w[i + 1]; seen[n++].binding = w[i + 3]; }
  for (size_t i = 5; i < count; i += w[i] >> 16)
    if ((w[i] & 0xffff) == 59)
      for (uint32_t k = 0; k < n; k++)
        if (seen[k].id == w[i + 2])
          out[made++] = (VkDescriptorSetLayoutBinding){ seen[k].binding,
            w[i + 3] == 12 ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL };
  return made;
}

static int has_extension(VkPhysicalDevice gpu, const char *name) {
  uint32_t n = 0;
  vkEnumerateDeviceExtensionProperties(gpu, NULL, &n, NULL);
  VkExtensionProperties *all = calloc(n, sizeof *all);
  vkEnumerateDeviceExtensionProperties(gpu, NULL, &n, all);
  int found = 0;
  for (uint32_t i = 0; i < n; i++) found |= strcmp(all[i].extensionName, name) == 0;
  free(all);
  return found;
}

int main(int argc, char **argv) {
  if (argc < 2) { fprintf(stderr, "usage: vkstats shader.spv [entry point]\n"); return 2; }
  const char *entry = argc > 2 ? argv[2] : "main";
  size_t bytes;
  uint32_t *words = read_words(argv[1], &bytes);

  VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3 };
  VkInstance instance;
  CHECK(vkCreateInstance(&(VkInstanceCreateInfo){ .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app }, NULL, &instance));
  uint32_t one = 1;
  VkPhysicalDevice gpu;
  VkResult found = vkEnumeratePhysicalDevices(instance, &one, &gpu);
  if (one == 0 || found < 0) { fprintf(stderr, "no device\n"); return 1; }
  VkPhysicalDeviceDriverProperties driver = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES };
  VkPhysicalDeviceProperties2 all = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver };
  vkGetPhysicalDeviceProperties2(gpu, &all);
  VkPhysicalDeviceProperties properties = all.properties;

  // every feature that the driver has, and of extensions those that Dawn takes and that change code: bounds are checked by the driver
  VkPhysicalDeviceRobustness2FeaturesEXT robust = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT };
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR };
  struct { const char *name; VkBaseOutStructure *features; } wanted[] = {
    { VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, (VkBaseOutStructure *)&executable },
    { VK_EXT_ROBUSTNESS_2_EXTENSION_NAME, (VkBaseOutStructure *)&robust },
  };
  const char *extensions[2];
  uint32_t extension_count = 0;
  VkBaseOutStructure *chain = NULL;
  for (uint32_t i = 0; i < 2; i++)
    if (has_extension(gpu, wanted[i].name)) { extensions[extension_count++] = wanted[i].name; wanted[i].features->pNext = chain; chain = wanted[i].features; }
  VkPhysicalDeviceVulkan13Features v13 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, .pNext = chain };
  VkPhysicalDeviceVulkan12Features v12 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &v13 };
  VkPhysicalDeviceVulkan11Features v11 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &v12 };
  VkPhysicalDeviceFeatures2 features = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &v11 };
  vkGetPhysicalDeviceFeatures2(gpu, &features);
  if (!executable.pipelineExecutableInfo) { fprintf(stderr, "%s gives no statistics\n", properties.deviceName); return 1; }
  float priority = 1;
  VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority };
  VkDevice device;
  CHECK(vkCreateDevice(gpu, &(VkDeviceCreateInfo){ .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &features, .queueCreateInfoCount = 1,
    .pQueueCreateInfos = &queue, .enabledExtensionCount = extension_count, .ppEnabledExtensionNames = extensions }, NULL, &device));

  VkShaderModule module;
  CHECK(vkCreateShaderModule(device, &(VkShaderModuleCreateInfo){ .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words }, NULL, &module));
  VkDescriptorSetLayoutBinding bindings[MAX_BINDINGS];
  VkDescriptorSetLayoutCreateInfo set = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = bindings_of(words, bytes / 4, bindings), .pBindings = bindings };
  VkDescriptorSetLayout set_layout;
  CHECK(vkCreateDescriptorSetLayout(device, &set, NULL, &set_layout));
  VkPushConstantRange push = { VK_SHADER_STAGE_COMPUTE_BIT, 0, 64 };
  VkPipelineLayout layout;
  CHECK(vkCreatePipelineLayout(device, &(VkPipelineLayoutCreateInfo){ .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &set_layout,
    .pushConstantRangeCount = 1, .pPushConstantRanges = &push }, NULL, &layout));

  struct timespec a, b;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
  VkPipeline pipeline;
  CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &(VkComputePipelineCreateInfo){ .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
    .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR, .layout = layout,
    .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = module, .pName = entry } }, NULL, &pipeline));
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);

  VkPipelineInfoKHR info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, .pipeline = pipeline };
  PFN_vkGetPipelineExecutablePropertiesKHR get_executables = (PFN_vkGetPipelineExecutablePropertiesKHR)vkGetDeviceProcAddr(device, "vkGetPipelineExecutablePropertiesKHR");
  PFN_vkGetPipelineExecutableStatisticsKHR get_statistics = (PFN_vkGetPipelineExecutableStatisticsKHR)vkGetDeviceProcAddr(device, "vkGetPipelineExecutableStatisticsKHR");
  uint32_t executables = 0;
  CHECK(get_executables(device, &info, &executables, NULL));
  printf("{\"device\":\"%s\",\"driver\":\"%s %s\",\"compile_cpu_s\":%.2f", properties.deviceName, driver.driverName, driver.driverInfo, (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
  for (uint32_t e = 0; e < executables; e++) {
    VkPipelineExecutableInfoKHR which = { .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline, .executableIndex = e };
    uint32_t n = 0;
    CHECK(get_statistics(device, &which, &n, NULL));
    VkPipelineExecutableStatisticKHR *s = calloc(n, sizeof *s);
    for (uint32_t i = 0; i < n; i++) s[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    CHECK(get_statistics(device, &which, &n, s));
    for (uint32_t i = 0; i < n; i++) {
      if (s[i].format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR) printf(",\"%s\":%g", s[i].name, s[i].value.f64);
      else printf(",\"%s\":%llu", s[i].name, (unsigned long long)s[i].value.u64);
    }
    free(s);
  }
  printf("}\n");
  return 0;
}
