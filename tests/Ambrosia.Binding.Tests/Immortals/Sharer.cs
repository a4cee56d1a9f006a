namespace Ambrosia.Binding.Tests;

/// <summary>Keeps objects that its process has only once each: what a restored process has is another one.</summary>
public interface ISharer
{
    [MethodId(1)]
    Call Wait(int place);

    [MethodId(2)]
    int Echo(int value);
}

public sealed partial class Sharer : Immortal<ISharerProxy>, ISharer
{
    internal readonly int[]?[] Nothing = new int[2][];
    internal readonly byte[]?[] NoBytes = new byte[2][];
    internal readonly object?[] Words = new object[2];
    internal readonly ISharerProxy?[] Mine = new ISharerProxy[2];
    internal int Sum;

    public async Call Wait(int place)
    {
        Func<int, int> twice = static value => 2 * value;
        Nothing[place] = [];
        NoBytes[place] = [];
        Words[place] = "a text that the program holds once";
        Mine[place] = thisProxy;
        Sum += twice(await thisProxy.EchoAsync(place));
    }

    public int Echo(int value) => value;
}
