namespace Ambrosia.Binding.Tests;

/// <summary>The hot path: small messages in, small messages out.</summary>
public interface ILoad
{
    [MethodId(1)]
    void Take(int value, long more);

    [MethodId(2)]
    void TakeBytes(ReadOnlySpan<byte> bytes);

    [MethodId(3)]
    void Relay(int count);

    [MethodId(4)]
    int Echo(int value);

    [MethodId(5)]
    Call<int> EchoLater(int value);

    [MethodId(6)]
    void SendLarge();

    [MethodId(7)]
    void TakeArray(byte[] bytes);

    [MethodId(8)]
    void SendLargeAwaited();

    [MethodId(9)]
    void SendLargeAmongOthers();

    [MethodId(10)]
    ReadOnlyMemory<byte> GiveLarge();

    [MethodId(11)]
    void TakeAmongOthers(int before, ReadOnlySpan<byte> bytes);

    [MethodId(12)]
    void Loop(string until);
}

public sealed partial class Load : Immortal<ILoadProxy>, ILoad
{
    private readonly ILoadProxy _other;

    public Load() => _other = GetProxy<ILoad>("other");

    internal long Sum { get; private set; }

    public void Take(int value, long more) => Sum += value + more;

    public void TakeBytes(ReadOnlySpan<byte> bytes) => Sum += bytes.Length;

    public void Relay(int count)
    {
        Span<byte> bytes = stackalloc byte[16];
        for (int i = 0; i < count; i += 2)
        {
            _other.TakeFork(i, -i);
            _other.TakeBytesFork(bytes);
        }
    }

    /// <summary>What SendLarge sends: made before anything is measured.</summary>
    [NotState]
    internal byte[]? Large { get; set; }

    public void SendLarge() => _other.TakeBytesFork(Large);

    public void SendLargeAwaited() => _ = _other.TakeBytesAsync(Large);

    public void SendLargeAmongOthers() => _other.TakeAmongOthersFork(7, Large);

    public ReadOnlyMemory<byte> GiveLarge() => Large;

    public void TakeArray(byte[] bytes) => Sum += bytes.Length;

    public void TakeAmongOthers(int before, ReadOnlySpan<byte> bytes) => Sum += before + bytes.Length;

    /// <summary>Comes back when there is a file of that path.</summary>
    public void Loop(string until) => SpinWait.SpinUntil(() => File.Exists(until));

    public int Echo(int value) => value;

    public Call<int> EchoLater(int value) => Call.FromResult(value);
}
