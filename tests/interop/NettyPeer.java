import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import io.netty.handler.codec.compression.JdkZlibDecoder;
import io.netty.handler.codec.compression.JdkZlibEncoder;
import io.netty.handler.codec.compression.ZlibWrapper;

/** The other end of frames_peer.c, made with Netty: NettyPeer PORT KIND COUNT SEED. SEED is the one given there. */
public final class NettyPeer extends SimpleChannelInboundHandler<ByteBuf> {
    private static final int LARGEST = 65536;
    private static final byte[] NAME = {'n', 'e', 't', 't', 'y'};

    private final boolean legacy;
    private final int count;
    private final JdkZlibEncoder encoder;
    private final JdkZlibDecoder decoder;
    private int outgoing;
    private int incoming;
    private int sent;
    private int received;
    private String fault;

    private NettyPeer(String kind, int count, int seed) {
        legacy = kind.equals("legacy");
        this.count = count;
        outgoing = seed + 1;
        incoming = seed;
        ZlibWrapper wrapper = kind.equals("zlib") ? ZlibWrapper.ZLIB
                : kind.equals("raw") ? ZlibWrapper.NONE : ZlibWrapper.GZIP;
        boolean plain = kind.equals("plain");
        encoder = plain ? null : new JdkZlibEncoder(wrapper);
        decoder = plain ? null : new JdkZlibDecoder(wrapper);
    }

    private static int next(int state) {
        state ^= state << 13;
        state ^= state >>> 17;
        return state ^ state << 5;
    }

    /** A frame, and the state behind it. */
    private static final class Frame {
        final byte[] bytes;
        final int state;

        Frame(int state) {
            int shape = state = next(state);
            int salt = state = next(state);
            int length = Integer.remainderUnsigned(salt, Integer.remainderUnsigned(shape, 64) == 0 ? LARGEST : 600);
            bytes = new byte[length];
            for (int i = 0; i < length; i++) {
                if ((shape & 256) != 0) {
                    bytes[i] = (byte) (state = next(state));
                } else {
                    bytes[i] = (byte) (i * (salt & 15) % 97);
                }
            }
            this.state = state;
        }
    }

    private ByteBuf messageOf(byte[] frame) {
        if (!legacy) {
            return Unpooled.wrappedBuffer(frame);
        }
        ByteBuf message = Unpooled.buffer();
        message.writeByte(1).writeByte(NAME.length).writeBytes(NAME);
        return message.writeInt(1 + frame.length).writeByte(1).writeBytes(frame);
    }

    private void sendSome(ChannelHandlerContext ctx) {
        while (sent < count && ctx.channel().isWritable()) {
            Frame frame = new Frame(outgoing);
            outgoing = frame.state;
            sent++;
            ctx.writeAndFlush(messageOf(frame.bytes));
        }
    }

    private void endIfDone(ChannelHandlerContext ctx) {
        if (sent < count || received < count) {
            return;
        }
        SocketChannel socket = (SocketChannel) ctx.channel();
        if (encoder == null) {
            socket.shutdownOutput();
        } else {
            encoder.close().addListener(done -> socket.shutdownOutput());
        }
    }

    private boolean isFrame(ByteBuf message, byte[] frame) {
        if (legacy) {
            boolean header = message.readByte() == 1 && message.skipBytes(message.readUnsignedByte()) != null
                    && message.readInt() == 1 + frame.length && message.readByte() == 1;
            if (!header) {
                return false;
            }
        }
        return message.equals(Unpooled.wrappedBuffer(frame));
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        sendSome(ctx);
        endIfDone(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        sendSome(ctx);
        endIfDone(ctx);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf message) {
        Frame frame = new Frame(incoming);
        incoming = frame.state;
        received++;
        if (!isFrame(message, frame.bytes)) {
            fault = "frame " + received + " is not the one that was sent";
            ctx.close();
            return;
        }
        endIfDone(ctx);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            ctx.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fault = cause.toString();
        ctx.close();
    }

    private void initialise(Channel channel) {
        if (encoder != null) {
            channel.pipeline().addLast(encoder, decoder);
        }
        channel.pipeline().addLast(new LengthFieldPrepender(4),
                new LengthFieldBasedFrameDecoder(5 << 20, 0, 4, 0, 4), this);
    }

    private void talk(int port) throws InterruptedException {
        NioEventLoopGroup group = new NioEventLoopGroup(1);
        Bootstrap bootstrap = new Bootstrap().group(group).channel(NioSocketChannel.class)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true).handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        initialise(channel);
                    }
                });
        bootstrap.connect("127.0.0.1", port).sync().channel().closeFuture().sync();
        group.shutdownGracefully();
    }

    public static void main(String[] arguments) throws InterruptedException {
        NettyPeer peer = new NettyPeer(arguments[1], Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
        peer.talk(Integer.parseInt(arguments[0]));
        boolean ended = peer.decoder == null || peer.decoder.isClosed();
        System.out.println("netty: sent " + peer.sent + ", received " + peer.received + (ended ? " and the end" : ""));
        if (peer.fault != null) {
            System.out.println("netty: " + peer.fault);
        }
        boolean whole = peer.fault == null && ended && peer.sent == peer.count && peer.received == peer.count;
        System.exit(whole ? 0 : 1);
    }
}
