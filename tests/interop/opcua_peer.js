// node-opcua's side: `recode CODEC`, `read CODEC` or `frame PORT`; see test_opcua.sh and opcua_codec.c.
const assert = require("assert"), net = require("net"), { spawnSync } = require("child_process");
const { Variant, DataType, VariantArrayType, encodeVariant, decodeVariant } = require("node-opcua-variant");
const { DataValue, encodeDataValue, decodeDataValue } = require("node-opcua-data-value");
const { BinaryStream } = require("node-opcua-binary-stream");
const { StatusCodes } = require("node-opcua-status-code");
const ELEMENTS = 1000, ROOM = 1 << 20;

const bytesOf = (encode, value) => {
  const stream = new BinaryStream(ROOM);
  encode(value, stream);
  return Buffer.from(stream.buffer.subarray(0, stream.length));
};
const framed = (kind, bytes) => {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeUInt32LE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
};
function* messagesOf(bytes) {
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32LE(at + 1);
    yield bytes.subarray(at + 5, at + 5 + length);
    at += 5 + length;
  }
}
const run = (codec, mode, input) => {
  const result = spawnSync(codec, [mode], { input, maxBuffer: 64 << 20 });
  assert.strictEqual(result.status, 0, String(result.stderr));
  return result.stdout;
};

// One element of each type, from its number.
const mix = i => Math.imul(i + 1, 0x9e3779b1) >>> 0;
const guid = i => {
  const hex = mix(i).toString(16).padStart(8, "0").toUpperCase();
  return `${hex}-${hex.slice(0, 4)}-${hex.slice(4)}-${hex.slice(0, 4)}-${hex}${hex.slice(0, 4)}`;
};
const element = {
  Boolean: i => i % 3 === 0,
  SByte: i => (mix(i) << 24) >> 24,
  Byte: i => mix(i) & 255,
  Int16: i => (mix(i) << 16) >> 16,
  UInt16: i => mix(i) & 65535,
  Int32: i => mix(i) | 0,
  UInt32: mix,
  Int64: i => [mix(i), mix(i + 7)],
  UInt64: i => [mix(i), mix(i + 7)],
  Float: i => Math.fround(i * 1.37 - 500),
  Double: i => i * 1.37e100 - 500,
  String: i => (i % 5 === 4 ? null : "水Boy ".repeat(i % 4)),
  DateTime: i => new Date(1e12 + i * 1001),
  Guid: guid,
  ByteString: i => (i % 5 === 4 ? null : Buffer.alloc(i % 7, i)),
  XmlElement: i => `<a n="${i}"/>`,
  StatusCode: i => (i % 2 ? StatusCodes.BadTimeout : StatusCodes.Good)
};

const typed = {
  SByte: Int8Array, Byte: Uint8Array, Int16: Int16Array, UInt16: Uint16Array, Int32: Int32Array, UInt32: Uint32Array,
  Float: Float32Array, Double: Float64Array
};

function* variants() {
  for (const [name, make] of Object.entries(element)) {
    const dataType = DataType[name], value = (typed[name] || Array).from({ length: ELEMENTS }, (_, i) => make(i));
    yield new Variant({ dataType, arrayType: VariantArrayType.Scalar, value: make(1) });
    yield new Variant({ dataType, arrayType: VariantArrayType.Array, value });
    yield new Variant({ dataType, arrayType: VariantArrayType.Matrix, dimensions: [10, ELEMENTS / 10], value });
    yield new Variant({ dataType, arrayType: VariantArrayType.Array, value: value.slice(0, 0) });
  }
}

// What node writes, we read and write again: the same bytes.
function recode(codec) {
  const messages = [];
  for (const variant of variants()) {
    messages.push(["V", bytesOf(encodeVariant, variant)]);
    const value = new DataValue({ value: variant, statusCode: StatusCodes.BadTimeout, sourceTimestamp: new Date(1e12) });
    messages.push(["D", bytesOf(encodeDataValue, value)]);
  }
  const answers = [...messagesOf(run(codec, "recode", Buffer.concat(messages.map(([kind, bytes]) => framed(kind, bytes)))))];
  assert.strictEqual(answers.length, messages.length);
  messages.forEach(([, bytes], i) => assert.ok(bytes.equals(answers[i]), `message ${i}`));
  console.log(`fine: ${messages.length} messages of node-opcua read and written again`);
}

// What we write, node reads: each element is the one that its number gives, and it is the same bytes again.
const width = { 1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 4, 8: 8, 9: 8, 10: 4, 11: 8, 13: 8, 14: 16, 19: 4 };
function expected(type, i) {
  const bytes = Buffer.from(Array.from({ length: width[type] }, (_, j) => ((i * width[type] + j) * 31 + 7) & 255));
  const hex = n => n.toString(16).toUpperCase().padStart(8, "0");
  const tail = bytes.subarray(8).toString("hex").toUpperCase();
  switch (type) {
    case 1: return i % 3 === 0;
    case 2: return bytes.readInt8();
    case 3: return bytes.readUInt8();
    case 4: return bytes.readInt16LE();
    case 5: return bytes.readUInt16LE();
    case 6: return bytes.readInt32LE();
    case 7: return bytes.readUInt32LE();
    case 8: case 9: return [bytes.readUInt32LE(4), bytes.readUInt32LE(0)];
    case 10: return bytes.readFloatLE();
    case 11: return bytes.readDoubleLE();
    case 13: return new Date(1e12 + i);
    case 14: return `${hex(bytes.readUInt32LE())}-${hex(bytes.readUInt16LE(4)).slice(4)}-` +
      `${hex(bytes.readUInt16LE(6)).slice(4)}-${tail.slice(0, 4)}-${tail.slice(4)}`;
    case 19: return i % 2 ? StatusCodes.BadTimeout.value : 0;
  }
}
function read(codec) {
  let elements = 0;
  for (const bytes of messagesOf(run(codec, "generate"))) {
    const variant = decodeVariant(new BinaryStream(bytes));
    assert.deepStrictEqual(Array.from(variant.dimensions), [10, ELEMENTS / 10]);
    assert.strictEqual(variant.value.length, ELEMENTS);
    for (let i = 0; i < ELEMENTS; i++, elements++) {
      const seen = variant.dataType === DataType.StatusCode ? variant.value[i].value : variant.value[i];
      assert.deepStrictEqual(seen, expected(variant.dataType, i), `type ${variant.dataType}, element ${i}`);
    }
    if (variant.dataType !== DataType.StatusCode) assert.ok(bytesOf(encodeVariant, variant).equals(bytes));
  }
  assert.strictEqual(elements, 14 * ELEMENTS);
  console.log(`fine: ${elements} elements of ours read by node-opcua`);
}

// Asks the example server, and reads the chunks of two frames.
async function frame(port) {
  const socket = net.connect(Number(port), "127.0.0.1");
  const request = id => {
    const head = Buffer.alloc(25);
    head.write("MSGF");
    head.writeUInt32LE(25, 4);
    head.writeUInt32LE(id, 20);
    return head;
  };
  socket.write(Buffer.concat([request(1), request(2)]));
  let held = Buffer.alloc(0), id = 1, sequence = 1;
  const bodies = [];
  for await (const piece of socket) {
    held = Buffer.concat([held, piece]);
    while (id <= 2 && held.length >= 24 && held.length >= held.readUInt32LE(4)) {
      assert.strictEqual(held.readUInt32LE(16), sequence++);
      assert.strictEqual(held.readUInt32LE(20), id);
      const last = held.toString("latin1", 0, 4) === "MSGF", length = held.readUInt32LE(4);
      bodies.push(held.subarray(24, length));
      held = held.subarray(length);
      if (!last) continue;
      const { value } = decodeDataValue(new BinaryStream(Buffer.concat(bodies.splice(0))));
      assert.deepStrictEqual(Array.from(value.dimensions), [720, 1280]);
      value.value.forEach((pixel, i) => assert.strictEqual(pixel, i + value.value[0]));
      console.log(`fine: frame ${id++} of ${value.value.length} elements in ${sequence - 1} chunks`);
      sequence = 1;
    }
    if (id > 2) break;
  }
  assert.strictEqual(id, 3, "the server ended the connection");
}

const [mode, target] = process.argv.slice(2);
({ recode, read, frame })[mode](target);
