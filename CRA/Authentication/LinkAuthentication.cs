using System.Security.Cryptography;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;

namespace CRA.Authentication;

/// <summary>
/// Carries out one side of the authentication of a link (protocol P7). It takes bytes of the other side and gives bytes for it, however the
/// stream is cut, and never takes a byte that belongs to the frames behind it. Both proofs cover the address by which the acceptor was
/// called, so nobody who forwards bytes from another address can stand between the two. One thread uses it, and drops it when it is done or
/// has thrown.
/// </summary>
internal sealed class LinkAuthentication
{
    public const int SecretBytes = 32;
    public const int NonceBytes = 32;
    public const int ProofBytes = 32;
    public const int GreetingBytes = 40;
    public const int AnswerBytes = NonceBytes + ProofBytes;

    /// <summary>No reply is longer than this.</summary>
    public const int ReplyBytesMax = AnswerBytes;

    private static ReadOnlySpan<byte> Magic => "AMBRLINK"u8;
    private static ReadOnlySpan<byte> AcceptorLabel => "acceptor"u8;
    private static ReadOnlySpan<byte> DiallerLabel => "dialler"u8;

    private enum Step { Greet, AwaitGreeting, AwaitAnswer, AwaitProof, Done }

    private readonly byte[] _secret;

    /// <summary>The dialler holds the address that it dialled, the acceptor the one that it has published. They must be the same.</summary>
    private readonly byte[] _address;
    private readonly bool _isDialler;

    /// <summary>
    /// The dialler's nonce and then the acceptor's. Both proofs and the seed are made of them in this order. The other side's nonce is
    /// there as soon as a step needs it.
    /// </summary>
    private readonly byte[] _nonces = new byte[2 * NonceBytes];

    /// <summary>
    /// The first <c>_held</c> bytes are what has arrived of the present step's message. Invariant:
    /// <c>_held ≤ StepBytes ≤ _message.Length</c>.
    /// </summary>
    private readonly byte[] _message = new byte[AnswerBytes];
    private int _held;
    private Step _step;

    private LinkAuthentication(ReadOnlySpan<byte> secret, ReadOnlySpan<byte> nonce, string address, bool isDialler)
    {
        ArgumentException.ThrowIfNullOrEmpty(address);
        if (secret.Length != SecretBytes) throw new ArgumentException($"A secret has {SecretBytes} bytes.", nameof(secret));
        if (nonce.Length != NonceBytes) throw new ArgumentException($"A nonce has {NonceBytes} bytes.", nameof(nonce));
        _secret = secret.ToArray();
        _address = Utf8Text.Identity(address);
        _isDialler = isDialler;
        nonce.CopyTo(_nonces.AsSpan(isDialler ? 0 : NonceBytes));
        _step = isDialler ? Step.Greet : Step.AwaitGreeting;
    }

    /// <summary>Creates the side that connected. Its first <see cref="Feed"/>, which may be of no bytes, gives the greeting.</summary>
    /// <param name="address">The address that was dialled, as the catalog has it.</param>
    public static LinkAuthentication Dialler(ReadOnlySpan<byte> secret, ReadOnlySpan<byte> nonce, string address) =>
        new(secret, nonce, address, isDialler: true);

    /// <summary>Creates the side that was connected to.</summary>
    /// <param name="address">The address that callers dial, as it was published in the catalog.</param>
    public static LinkAuthentication Acceptor(ReadOnlySpan<byte> secret, ReadOnlySpan<byte> nonce, string address) =>
        new(secret, nonce, address, isDialler: false);

    /// <summary>The other side is authenticated.</summary>
    public bool Done => _step == Step.Done;

    /// <summary>
    /// The number of bytes of the other side that are missing until the next reply or the end; 0 when this side speaks next, or when done.
    /// </summary>
    public int BytesWanted => StepBytes - _held;

    /// <summary>The seed of the connection's frames (P2.2); defined when done.</summary>
    public uint Seed => Done ? Crc32C.Of(_nonces) : throw new InvalidOperationException("The link is not authenticated yet.");

    private int StepBytes => _step switch
    {
        Step.AwaitGreeting => GreetingBytes,
        Step.AwaitAnswer => AnswerBytes,
        Step.AwaitProof => ProofBytes,
        _ => 0,
    };

    /// <summary>
    /// Takes what it needs of <paramref name="received"/> and writes what is to be sent at the start of <paramref name="reply"/>, which has
    /// room for <see cref="ReplyBytesMax"/>.
    /// </summary>
    /// <exception cref="ProtocolViolation">P7.1 other first bytes; P7.2 a wrong proof. The connection closes.</exception>
    public AuthenticationStatus Feed(ReadOnlySpan<byte> received, out int consumed, Span<byte> reply, out int replyBytes)
    {
        if (reply.Length < ReplyBytesMax) throw new ArgumentException($"A reply may have {ReplyBytesMax} bytes.", nameof(reply));
        consumed = 0;
        replyBytes = _step == Step.Greet ? Greet(reply) : 0;
        if (replyBytes > 0 || Done) return Done ? AuthenticationStatus.Done : AuthenticationStatus.NeedMore;

        consumed = Math.Min(BytesWanted, received.Length);
        received[..consumed].CopyTo(_message.AsSpan(_held));
        _held += consumed;
        if (_step == Step.AwaitGreeting) CheckMagic();
        if (BytesWanted > 0) return AuthenticationStatus.NeedMore;

        replyBytes = EndStep(reply);
        return Done ? AuthenticationStatus.Done : AuthenticationStatus.NeedMore;
    }

    private int Greet(Span<byte> reply)
    {
        Magic.CopyTo(reply);
        _nonces.AsSpan(0, NonceBytes).CopyTo(reply[Magic.Length..]);
        _step = Step.AwaitAnswer;
        return GreetingBytes;
    }

    private int EndStep(Span<byte> reply)
    {
        ReadOnlySpan<byte> message = _message.AsSpan(0, _held);
        _held = 0;
        switch (_step)
        {
            case Step.AwaitGreeting:
                message[Magic.Length..].CopyTo(_nonces);
                _nonces.AsSpan(NonceBytes).CopyTo(reply);
                Prove(isDialler: false, reply[NonceBytes..]);
                _step = Step.AwaitProof;
                return AnswerBytes;
            case Step.AwaitAnswer:
                message[..NonceBytes].CopyTo(_nonces.AsSpan(NonceBytes));
                CheckProof(message[NonceBytes..]);
                Prove(isDialler: true, reply);
                _step = Step.Done;
                return ProofBytes;
            default:
                CheckProof(message);
                _step = Step.Done;
                return 0;
        }
    }

    private void Prove(bool isDialler, Span<byte> proof)
    {
        ReadOnlySpan<byte> label = isDialler ? DiallerLabel : AcceptorLabel;
        byte[] text = [.. label, .. _nonces, .. _address];
        HMACSHA256.HashData(_secret, text, proof);
    }

    /// <summary>Checks the other side's proof, which carries its own label, so that our proof sent back to us proves nothing.</summary>
    private void CheckProof(ReadOnlySpan<byte> proof)
    {
        Span<byte> expected = stackalloc byte[ProofBytes];
        Prove(!_isDialler, expected);
        if (!CryptographicOperations.FixedTimeEquals(expected, proof))
            throw new ProtocolViolation("P7.2",
                "the other side of the link does not know the catalog's secret, or was reached by another address than "
                + $"{Utf8Text.Shown(_address)}. Give both the same --catalog, or a copy of it; "
                + "where something forwards connections, --advertise states its address");
    }

    /// <summary>Refuses the first byte that differs, so that a foreign connection is not held open until it has sent 40 bytes.</summary>
    private void CheckMagic()
    {
        const byte tlsHandshake = 0x16;
        if (_held > 0 && _message[0] == tlsHandshake)
            throw new ProtocolViolation("P7.1",
                "a connection with TLS where there are no certificates; give this coordinator --tls-cert, --tls-key and --tls-ca");
        int held = Math.Min(_held, Magic.Length);
        if (!_message.AsSpan(0, held).SequenceEqual(Magic[..held]))
            throw new ProtocolViolation("P7.1",
                "a connection with other first bytes than a link's: neither a coordinator nor a caller. Keep others away from this port");
    }
}

/// <summary>The status tells whoever feeds an authentication whether to go on with it or to begin with frames.</summary>
internal enum AuthenticationStatus
{
    /// <summary>It needs <see cref="LinkAuthentication.BytesWanted"/> more bytes of the other side.</summary>
    NeedMore,

    /// <summary>The other side knows the secret, and frames follow. A dialler still sends its own proof before them.</summary>
    Done,
}
