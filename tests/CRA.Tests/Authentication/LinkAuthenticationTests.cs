using System.Security.Cryptography;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using CRA.Authentication;

namespace CRA.Tests;

public sealed class LinkAuthenticationTests
{
    private const string Address = "127.0.0.1:4711";

    private static readonly byte[] s_secret = Bytes(1);
    private static readonly byte[] s_otherSecret = Bytes(2);

    private static byte[] Bytes(byte first) => [.. Enumerable.Range(0, 32).Select(i => (byte)(first + i))];

    private static byte[] Proof(string label, byte[] nonces) =>
        HMACSHA256.HashData(s_secret, (byte[])[.. Encoding.ASCII.GetBytes(label), .. nonces, .. Encoding.UTF8.GetBytes(Address)]);

    // Gives one side bytes in cuts of at most `cut`, and collects its replies. Everything must be consumed.
    private static byte[] Give(LinkAuthentication side, byte[] bytes, int cut = int.MaxValue)
    {
        var replies = new List<byte>();
        byte[] reply = new byte[LinkAuthentication.ReplyBytesMax];
        int at = 0;
        do
        {
            ReadOnlySpan<byte> piece = bytes.AsSpan(at, Math.Min(cut, bytes.Length - at));
            AuthenticationStatus status = side.Feed(piece, out int consumed, reply, out int replyBytes);
            Assert.Equal(side.Done, status == AuthenticationStatus.Done);
            replies.AddRange(reply[..replyBytes]);
            at += consumed;
            if (consumed == 0 && piece.Length > 0) break;
        }
        while (at < bytes.Length);
        Assert.Equal(bytes.Length, at);
        return [.. replies];
    }

    private static (byte[] Greeting, byte[] Answer, byte[] Proof) Converse(
        LinkAuthentication dialler, LinkAuthentication acceptor, int cut = int.MaxValue)
    {
        byte[] greeting = Give(dialler, []);
        byte[] answer = Give(acceptor, greeting, cut);
        byte[] proof = Give(dialler, answer, cut);
        Give(acceptor, proof, cut);
        return (greeting, answer, proof);
    }

    [Fact]
    public void Feed_InEveryCut_AuthenticatesBothWithTheDocumentsBytes()
    {
        byte[] nonces = [.. Bytes(10), .. Bytes(50)];
        for (int cut = 1; cut <= 64; cut++)
        {
            var dialler = LinkAuthentication.Dialler(s_secret, Bytes(10), Address);
            var acceptor = LinkAuthentication.Acceptor(s_secret, Bytes(50), Address);
            (byte[] greeting, byte[] answer, byte[] proof) = Converse(dialler, acceptor, cut);
            Assert.Equal([.. "AMBRLINK"u8, .. Bytes(10)], greeting);
            Assert.Equal([.. Bytes(50), .. Proof("acceptor", nonces)], answer);
            Assert.Equal(Proof("dialler", nonces), proof);
            Assert.True(dialler.Done && acceptor.Done);
            Assert.Equal(Crc32C.Of(nonces), dialler.Seed);
            Assert.Equal(dialler.Seed, acceptor.Seed);
        }
    }

    [Fact]
    public void Feed_WithFramesBehindTheProof_LeavesThem()
    {
        var dialler = LinkAuthentication.Dialler(s_secret, Bytes(10), Address);
        var acceptor = LinkAuthentication.Acceptor(s_secret, Bytes(50), Address);
        byte[] proof = Give(dialler, Give(acceptor, Give(dialler, [])));
        byte[] reply = new byte[64];
        Assert.Equal(AuthenticationStatus.Done, acceptor.Feed([.. proof, 1, 2, 3], out int consumed, reply, out _));
        Assert.Equal(proof.Length, consumed);
        Assert.Equal(AuthenticationStatus.Done, acceptor.Feed([1, 2, 3], out consumed, reply, out int replyBytes));
        Assert.Equal((0, 0), (consumed, replyBytes));
    }

    [Fact]
    public void BytesWanted_NeverReachesIntoTheNextStep()
    {
        var acceptor = LinkAuthentication.Acceptor(s_secret, Bytes(50), Address);
        Assert.Equal(40, acceptor.BytesWanted);
        byte[] greeting = Give(LinkAuthentication.Dialler(s_secret, Bytes(10), Address), []);
        Give(acceptor, greeting[..39]);
        Assert.Equal(1, acceptor.BytesWanted);
        Give(acceptor, greeting[39..]);
        Assert.Equal(32, acceptor.BytesWanted);
    }

    [Fact]
    public void Feed_WithAnotherSecret_IsRefusedByTheDialler()
    {
        var dialler = LinkAuthentication.Dialler(s_secret, Bytes(10), Address);
        var acceptor = LinkAuthentication.Acceptor(s_otherSecret, Bytes(50), Address);
        byte[] answer = Give(acceptor, Give(dialler, []));
        Assert.Equal("P7.2", Assert.Throws<ProtocolViolation>(() => Give(dialler, answer)).Section);
        Assert.False(dialler.Done);
        Assert.Throws<InvalidOperationException>(() => dialler.Seed);
    }

    /// <summary>Whoever forwards the bytes of both is at another address than the one that was published, or is not reached.</summary>
    [Fact]
    public void Feed_AcceptorOfAnotherAddress_IsRefusedByBoth()
    {
        var dialler = LinkAuthentication.Dialler(s_secret, Bytes(10), Address);
        var elsewhere = LinkAuthentication.Acceptor(s_secret, Bytes(50), "127.0.0.1:4712");
        byte[] answer = Give(elsewhere, Give(dialler, []));
        Assert.Equal("P7.2", Assert.Throws<ProtocolViolation>(() => Give(dialler, answer)).Section);
        Assert.Equal("P7.2", Assert.Throws<ProtocolViolation>(() => Give(elsewhere, Proof("dialler", [.. Bytes(10), .. Bytes(50)]))).Section);
    }

    [Fact]
    public void Feed_WithEveryBitOfTheProofFlipped_IsRefusedByTheAcceptor()
    {
        for (int bit = 0; bit < 256; bit++)
        {
            var dialler = LinkAuthentication.Dialler(s_secret, Bytes(10), Address);
            var acceptor = LinkAuthentication.Acceptor(s_secret, Bytes(50), Address);
            byte[] proof = Give(dialler, Give(acceptor, Give(dialler, [])));
            proof[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.Equal("P7.2", Assert.Throws<ProtocolViolation>(() => Give(acceptor, proof)).Section);
        }
    }

    [Fact]
    public void Feed_WithAReplayedConversation_IsRefused()
    {
        (byte[] greeting, byte[] answer,
            byte[] proof) = Converse(
                LinkAuthentication.Dialler(s_secret, Bytes(10), Address), LinkAuthentication.Acceptor(s_secret, Bytes(50), Address));

        var acceptor = LinkAuthentication.Acceptor(s_secret, Bytes(51), Address);
        Give(acceptor, greeting);
        Assert.Throws<ProtocolViolation>(() => Give(acceptor, proof));

        var dialler = LinkAuthentication.Dialler(s_secret, Bytes(11), Address);
        Give(dialler, []);
        Assert.Throws<ProtocolViolation>(() => Give(dialler, answer));
    }

    [Fact]
    public void Feed_WithOurOwnProofReflected_IsRefused()
    {
        // A stranger gives an acceptor's proof back to it as its own.
        var acceptor = LinkAuthentication.Acceptor(s_secret, Bytes(50), Address);
        byte[] answer = Give(acceptor, [.. "AMBRLINK"u8, .. Bytes(50)]);
        Assert.Throws<ProtocolViolation>(() => Give(acceptor, answer[32..]));
    }

    [Theory]
    [InlineData("GET / HTTP/1.1")]
    [InlineData("AMBRLINX")]
    [InlineData("\0")]
    public void Feed_WithOtherFirstBytes_IsRefusedAtTheFirstThatDiffers(string bytes)
    {
        byte[] garbage = Encoding.Latin1.GetBytes(bytes);
        int same = garbage.Zip("AMBRLINK"u8.ToArray()).TakeWhile(pair => pair.First == pair.Second).Count();
        var acceptor = LinkAuthentication.Acceptor(s_secret, Bytes(50), Address);
        for (int i = 0; i < same; i++) Give(acceptor, [garbage[i]]);
        Assert.Equal("P7.1", Assert.Throws<ProtocolViolation>(() => Give(acceptor, [garbage[same]])).Section);
    }

    [Fact]
    public void Feed_With64KiBOfGarbage_NeverAuthenticates_AndTakesAtMostAGreeting()
    {
        var random = new Random(7);
        byte[] garbage = new byte[64 * 1024];
        byte[] reply = new byte[64];
        for (int round = 0; round < 50; round++)
        {
            random.NextBytes(garbage);
            if (round % 2 == 1) "AMBRLINK"u8.CopyTo(garbage);
            var acceptor = LinkAuthentication.Acceptor(s_secret, Bytes(50), Address);
            int at = 0;
            Assert.Throws<ProtocolViolation>(() =>
            {
                while (at < garbage.Length)
                {
                    acceptor.Feed(garbage.AsSpan(at), out int consumed, reply, out _);
                    at += consumed;
                }
            });
            Assert.InRange(at, 0, 40);
            Assert.False(acceptor.Done);
        }
    }
}
