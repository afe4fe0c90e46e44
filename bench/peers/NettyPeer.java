import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Netty at the work of our rows. Its arguments name the work; then it reads commands, a line each: "run N" does the
 * operation N times, warm, and answers with the CPU time of the thread in nanoseconds; "output" answers with a length and so
 * many bytes, what one operation produced. It ends with its input.
 */
public final class NettyPeer {
    /** Some work: one operation, and what it produces. */
    abstract static class Work {
        abstract void once() throws Exception;

        abstract byte[] output() throws Exception;

        long sink;

        void run(long times) throws Exception {
            for (long i = 0; i < times; i++)
                once();
        }
    }

    static byte[] bytesOf(ByteBuf buf) {
        byte[] bytes = new byte[buf.readableBytes()];
        buf.getBytes(buf.readerIndex(), bytes);
        buf.release();
        return bytes;
    }

    /** alloc SIZE pooled|unpooled: a buffer made and released. */
    static final class Alloc extends Work {
        final int size;
        final boolean pooled;

        Alloc(String[] arguments) {
            size = Integer.parseInt(arguments[1]);
            pooled = arguments[2].equals("pooled");
        }

        ByteBuf make() {
            return pooled ? PooledByteBufAllocator.DEFAULT.directBuffer(size)
                          : UnpooledByteBufAllocator.DEFAULT.heapBuffer(size);
        }

        @Override
        void once() {
            ByteBuf buf = make();
            sink += buf.capacity();
            buf.release();
        }

        @Override
        byte[] output() {
            ByteBuf buf = make();
            buf.writeLong(size);
            return bytesOf(buf);
        }
    }

    /** text LENGTH TIMES foreign|ascii pooled|unpooled: a text written TIMES times into a buffer of that size. */
    static final class Text extends Work {
        final CharSequence text; // an AsciiString is bytes already, as our text is; a String has to be encoded
        final int times;
        final int size;
        final boolean foreign;
        final ByteBufAllocator alloc;

        Text(String[] arguments) {
            int length = Integer.parseInt(arguments[1]);
            times = Integer.parseInt(arguments[2]);
            foreign = arguments[3].equals("foreign");
            alloc = arguments[4].equals("pooled") ? PooledByteBufAllocator.DEFAULT : UnpooledByteBufAllocator.DEFAULT;
            byte[] bytes = new byte[length];
            for (int i = 0; i < length; i++)
                bytes[i] = (byte) (' ' + i * 7L % 95);
            for (int i = 500; foreign && i + 1 < length; i += 1024) {
                bytes[i] = (byte) 0xc3;
                bytes[i + 1] = (byte) 0xa9;
            }
            text = foreign ? new String(bytes, StandardCharsets.UTF_8) : new AsciiString(bytes);
            size = length * times;
        }

        ByteBuf written() {
            ByteBuf buf = alloc.directBuffer(size);
            for (int i = 0; i < times; i++)
                if (foreign)
                    ByteBufUtil.writeUtf8(buf, text);
                else
                    ByteBufUtil.writeAscii(buf, text);
            return buf;
        }

        @Override
        void once() {
            ByteBuf buf = written();
            sink += buf.writerIndex();
            buf.release();
        }

        @Override
        byte[] output() {
            return bytesOf(written());
        }
    }

    /** batch EVENTS SIZE bare|delimited copy|wrap: a batch built, its spans walked, released. */
    static final class Batch extends Work {
        final ByteBuf[] events;
        final boolean delimited;
        final boolean wraps;
        final ByteBuf prefix;
        final ByteBuf between;
        final ByteBuf suffix;
        final int length;

        Batch(String[] arguments) {
            events = new ByteBuf[Integer.parseInt(arguments[1])];
            int size = Integer.parseInt(arguments[2]);
            delimited = arguments[3].equals("delimited");
            wraps = arguments[4].equals("wrap");
            long random = 20240229;
            for (int i = 0; i < events.length; i++) {
                events[i] = PooledByteBufAllocator.DEFAULT.directBuffer(size, size);
                for (int k = 0; k < size; k++) {
                    random = random * 6364136223846793005L + 1442695040888963407L;
                    events[i].writeByte((int) (random >>> 56));
                }
            }
            prefix = ascii("data: ");
            between = ascii("\n\ndata: ");
            suffix = ascii("\n\n");
            length = events.length * size + (delimited ? 6 + 8 * (events.length - 1) + 2 : 0);
        }

        static ByteBuf ascii(String text) {
            ByteBuf buf = PooledByteBufAllocator.DEFAULT.directBuffer(text.length(), text.length());
            ByteBufUtil.writeAscii(buf, text);
            return buf;
        }

        static void copy(ByteBuf to, ByteBuf from) {
            to.writeBytes(from, from.readerIndex(), from.readableBytes());
        }

        ByteBuf copied() {
            ByteBuf whole = PooledByteBufAllocator.DEFAULT.directBuffer(length);
            for (int i = 0; i < events.length; i++) {
                if (delimited)
                    copy(whole, i == 0 ? prefix : between);
                copy(whole, events[i]);
            }
            if (delimited)
                copy(whole, suffix);
            return whole;
        }

        ByteBuf wrapped() {
            CompositeByteBuf whole = PooledByteBufAllocator.DEFAULT.compositeDirectBuffer(2 * events.length + 1);
            for (int i = 0; i < events.length; i++) {
                if (delimited)
                    whole.addComponent(true, (i == 0 ? prefix : between).retain());
                whole.addComponent(true, events[i].retain());
            }
            if (delimited)
                whole.addComponent(true, suffix.retain());
            return whole;
        }

        ByteBuf built() {
            return wraps ? wrapped() : copied();
        }

        @Override
        void once() {
            ByteBuf whole = built();
            if (whole.nioBufferCount() == 1)
                sink += whole.internalNioBuffer(whole.readerIndex(), whole.readableBytes()).remaining();
            else
                for (ByteBuffer span : whole.nioBuffers())
                    sink += span.remaining();
            whole.release();
        }

        @Override
        byte[] output() {
            return bytesOf(built());
        }
    }

    /** composite COMPONENTS: 1024 numbers of 32 bits read one by one across the borders of so many components. */
    static final class Composite extends Work {
        static final int COUNT = 1024;
        final ByteBuf whole;
        int sum;

        Composite(String[] arguments) {
            int components = Integer.parseInt(arguments[1]);
            ByteBuf plain = PooledByteBufAllocator.DEFAULT.directBuffer(4 * COUNT);
            for (int i = 0; i < COUNT; i++)
                plain.writeInt(i * (int) 2654435761L);
            CompositeByteBuf composite = PooledByteBufAllocator.DEFAULT.compositeDirectBuffer(components);
            for (int i = 0; i < components; i++)
                composite.addComponent(true, plain.readRetainedSlice(4 * COUNT / components));
            whole = composite;
        }

        @Override
        void once() {
            whole.readerIndex(0);
            sum = 0;
            while (whole.isReadable(4))
                sum += whole.readInt();
        }

        @Override
        byte[] output() {
            once();
            return bytesOf(PooledByteBufAllocator.DEFAULT.directBuffer(4).writeIntLE(sum));
        }
    }

    static Work workOf(String[] arguments) {
        switch (arguments[0]) {
        case "alloc":
            return new Alloc(arguments);
        case "text":
            return new Text(arguments);
        case "composite":
            return new Composite(arguments);
        case "batch":
            return new Batch(arguments);
        default:
            throw new IllegalArgumentException(arguments[0]);
        }
    }

    static void serve(Work work) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        DataOutputStream out = new DataOutputStream(System.out);
        for (String line; (line = in.readLine()) != null; out.flush()) {
            if (line.equals("output")) {
                byte[] bytes = work.output();
                out.writeBytes(bytes.length + "\n");
                out.write(bytes);
                continue;
            }
            long times = Long.parseLong(line.substring("run ".length()));
            work.run(times / 4); // caches have forgotten it since the last time
            long before = threads.getCurrentThreadCpuTime();
            work.run(times);
            out.writeBytes(threads.getCurrentThreadCpuTime() - before + "\n");
        }
    }

    public static void main(String[] arguments) throws Exception {
        Work work = workOf(arguments);
        Thread thread = new FastThreadLocalThread(() -> {
            try {
                serve(work);
            } catch (Exception problem) {
                problem.printStackTrace();
                System.exit(1);
            }
            System.exit(0);
        });
        thread.start();
    }
}
