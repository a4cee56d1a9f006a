using Ambrosia.Failures;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Binding.Tests;

public interface IPicky
{
    [MethodId(1)]
    void Take(string text);

    [MethodId(2)]
    Call TakeLater(string text, string at);

    [MethodId(3)]
    void Forgive();

    [MethodId(4)]
    void Fill(ReadOnlyMemory<byte> bytes);

    [MethodId(5)]
    Call<int> Answer(string text);

    /// <summary>Throws as long a failure as there can be.</summary>
    [MethodId(6)]
    int Complain();
}

/// <summary>Takes what it is given, then throws unless it has been told to forgive.</summary>
public sealed partial class Picky : Immortal<IPickyProxy>, IPicky
{
    internal List<string> Taken { get; } = [];

    internal bool Forgives { get; private set; }

    public void Take(string text)
    {
        Taken.Add(text);
        if (text == "memory") throw new OutOfMemoryException("there is none");
        if (text == "channel") throw new ChannelEnded("it is gone");
        if (!Forgives) throw new InvalidOperationException($"no {text}");
    }

    public async Call TakeLater(string text, string at)
    {
        IPickyProxy other = GetProxy<IPicky>(at);
        await other.ForgiveAsync();
        Take(text);
    }

    public void Forgive() => Forgives = true;

    public void Fill(ReadOnlyMemory<byte> bytes) => throw new InvalidOperationException($"no {bytes.Length} bytes");

    public async Call<int> Answer(string text)
    {
        Take(text);
        await thisProxy.ForgiveAsync();
        return Taken.Count;
    }

    public int Complain()
    {
        Exception? inner = null;
        for (int depth = FailureInfo.DepthMax - 1; depth >= 0; depth--)
            inner = new InvalidOperationException((depth == 0 ? "outermost " : "inner ") + new string('\u20AC', 10_000), inner);
        throw inner!;
    }
}
