using System.Runtime.InteropServices;

namespace CRA.Tests;

/// <summary>
/// Leaves this process without a free descriptor until it is disposed. The limit itself stays as it is, since a poll of more sockets than
/// the limit would fail for another reason. Only tests that run alone may use it.
/// </summary>
internal sealed partial class NoDescriptors : IDisposable
{
    private const int DescriptorLimit = 7; // RLIMIT_NOFILE
    private const ulong FewEnough = 2048;

    private readonly Limit _before;
    private readonly Stack<int> _taken = new();

    public NoDescriptors()
    {
        _ = GetLimit(DescriptorLimit, out _before);
        Limit low = _before with { Soft = Math.Min(_before.Soft, FewEnough) };
        Assert.Equal(0, SetLimit(DescriptorLimit, in low));
        for (int made; (made = Duplicate(0)) >= 0;) _taken.Push(made);
        Assert.NotEmpty(_taken);
    }

    public void Dispose()
    {
        while (_taken.TryPop(out int taken)) Close(taken);
        SetLimit(DescriptorLimit, in _before);
    }

    private readonly record struct Limit(ulong Soft, ulong Hard);

    [LibraryImport("libc", EntryPoint = "getrlimit")]
    private static partial int GetLimit(int resource, out Limit limit);

    [LibraryImport("libc", EntryPoint = "setrlimit")]
    private static partial int SetLimit(int resource, in Limit limit);

    [LibraryImport("libc", EntryPoint = "dup")]
    private static partial int Duplicate(int descriptor);

    [LibraryImport("libc", EntryPoint = "close")]
    private static partial int Close(int descriptor);
}
