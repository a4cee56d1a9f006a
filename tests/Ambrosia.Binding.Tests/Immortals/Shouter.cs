namespace Ambrosia.Binding.Tests;

/// <summary>Messages of any size, in every way in which one can be sent.</summary>
public interface IShouter
{
    [MethodId(1)]
    void Raw(ReadOnlySpan<byte> bytes);

    [MethodId(2)]
    void Text(string text, int more);

    [MethodId(3)]
    int Count(string text);

    /// <summary>Sends a message of so many bytes in each way, catches what that throws, and sends a small one behind it.</summary>
    [MethodId(4)]
    void TryAll(int bytes);

    /// <summary>Sends a message of so many bytes and catches nothing.</summary>
    [MethodId(5)]
    int Send(int bytes);

    /// <summary>Answers with so many bytes.</summary>
    [MethodId(6)]
    string Give(int bytes);

    /// <summary>Makes a call of so many bytes, and one behind it whose answer counts.</summary>
    [MethodId(7)]
    Call<int> Ask(int bytes);

    [MethodId(8)]
    [ImpulseHandler]
    void Poke(string text);
}

public sealed partial class Shouter : Immortal<IShouterProxy>, IShouter
{
    private readonly IShouterProxy _other;

    public Shouter() => _other = GetProxy<IShouter>("bank2");

    /// <summary>What was thrown where a call was made.</summary>
    internal List<string> Caught { get; } = [];

    internal IShouterProxy Self => thisProxy;

    public void Raw(ReadOnlySpan<byte> bytes)
    {
    }

    public void Text(string text, int more)
    {
    }

    public int Count(string text) => text.Length;

    public void TryAll(int bytes)
    {
        Try(() => _other.RawFork(new byte[bytes]));
        Try(() => _other.TextFork(new string('x', bytes), 1));
        Try(() => _ = _other.CountAsync(new string('x', bytes)));
        _other.RawFork([7]);
        _other.TextFork("small", 2);
    }

    private void Try(Action send)
    {
        try
        {
            send();
        }
        catch (InvalidOperationException e)
        {
            Caught.Add(e.Message);
        }
    }

    public int Send(int bytes)
    {
        _other.TextFork("before", 0);
        _other.RawFork(new byte[bytes]);
        return bytes;
    }

    public string Give(int bytes) => new('x', bytes);

    public async Call<int> Ask(int bytes)
    {
        Try(() => _ = _other.CountAsync(new string('x', bytes)));
        return await _other.CountAsync("small");
    }

    public void Poke(string text) => Caught.Add($"poked {text}");
}
