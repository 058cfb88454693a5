// The known-cost probe: a small matrix product whose rate tells hardware from software, whatever the adapter calls itself. A
// function expression, evaluated in the arm's page with the shader's text; resolves to GFLOP/s as text, "" without an adapter,
// "0" when the product came out wrong.
async (shader) => {
  const size = 128;
  const operations = 2 * size ** 3;
  const bytes = size * size * 4;
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) return "";
  const device = await adapter.requestDevice();
  try {
    const ones = new Float32Array(size * size).fill(1);
    const makeBuffer = (usage) => device.createBuffer({ size: bytes, usage });
    const [a, b] = [0, 1].map(() => {
      const buffer = makeBuffer(GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST);
      device.queue.writeBuffer(buffer, 0, ones);
      return buffer;
    });
    const c = makeBuffer(GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC);
    const result = makeBuffer(GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
    const module = device.createShaderModule({ code: shader });
    const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } });
    const entries = [a, b, c].map((buffer, binding) => ({ binding, resource: { buffer } }));
    const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    // Milliseconds of `count` products, until the last one's result is here; NaN when it is wrong.
    const time = async (count) => {
      const began = performance.now();
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(size / 16, size / 16, count);
      pass.end();
      encoder.copyBufferToBuffer(c, 0, result, 0, bytes);
      device.queue.submit([encoder.finish()]);
      await result.mapAsync(GPUMapMode.READ);
      const took = performance.now() - began;
      const right = new Float32Array(result.getMappedRange()).every((value) => value === size);
      result.unmap();
      return right ? took : Number.NaN;
    };
    await time(1);
    const one = await time(1);
    // A slow adapter has shown what it is; a fast one needs more work than a wait costs.
    const rate = one > 10 ? operations / one : (512 * operations) / Math.min(await time(512), await time(512));
    return Number.isFinite(rate) ? String(rate / 1e6) : "0";
  } finally {
    device.destroy();
  }
};
