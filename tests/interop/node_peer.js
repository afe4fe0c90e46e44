// The other end of frames_peer.c, made with Node's zlib: node_peer.js PORT KIND COUNT SEED. SEED is the one given there.
'use strict';
const net = require('net');
const zlib = require('zlib');

const LARGEST = 65536;
const [port, kind, count, seed] = process.argv.slice(2).map((word, i) => (i === 1 ? word : Number(word)));

// The random frames of a seed, one after another.
function* frames(state) {
    const next = () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return state >>> 0;
    };
    for (;;) {
        const shape = next();
        const salt = next();
        const frame = Buffer.alloc(shape % 64 === 0 ? salt % LARGEST : salt % 600);
        for (let i = 0; i < frame.length; i++)
            frame[i] = shape & 256 ? next() & 255 : (i * (salt & 15)) % 97;
        yield frame;
    }
}

const makers = {
    gzip: [zlib.createGzip, zlib.createGunzip],
    zlib: [zlib.createDeflate, zlib.createInflate],
    raw: [zlib.createDeflateRaw, zlib.createInflateRaw],
};
const [deflater, inflater] = makers[kind].map((make) => make({ flush: zlib.constants.Z_SYNC_FLUSH }));
const expected = frames(seed);
const sending = frames(seed + 1);
let sent = 0;
let received = 0;
let held = Buffer.alloc(0);

function giveUp(fault) {
    console.log('node: ' + fault);
    process.exit(1);
}

function sendSome() {
    while (sent < count) {
        const frame = sending.next().value;
        const length = Buffer.alloc(4);
        length.writeUInt32BE(frame.length);
        sent++;
        if (!deflater.write(Buffer.concat([length, frame])))
            return deflater.once('drain', sendSome);
    }
    endIfDone();
}

function endIfDone() {
    if (sent === count && received === count)
        deflater.end();
}

function takeFrames(bytes) {
    held = Buffer.concat([held, bytes]);
    let at = 0;
    while (held.length - at >= 4 && held.length - at - 4 >= held.readUInt32BE(at)) {
        const frame = held.subarray(at + 4, at + 4 + held.readUInt32BE(at));
        received++;
        if (!frame.equals(expected.next().value))
            giveUp(`frame ${received} is not the one that was sent`);
        at += 4 + frame.length;
    }
    held = held.subarray(at);
    if (at > 0)
        endIfDone();
}

const socket = net.connect({ host: '127.0.0.1', port, allowHalfOpen: true }, sendSome);
deflater.pipe(socket);
socket.pipe(inflater);
inflater.on('data', takeFrames);
inflater.on('end', () => {
    console.log(`node: sent ${sent}, received ${received} and the end`);
    process.exit(received === count && held.length === 0 ? 0 : 1);
});
for (const stream of [socket, deflater, inflater])
    stream.on('error', (error) => giveUp(error.message));
