using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Another process has claimed a later epoch: this one is no longer primary, acknowledges nothing more and ends (exit 75).
/// </summary>
public sealed class FenceLostException(string file, Epoch epoch)
    : Exception($"{file} is gone: another process has claimed an epoch after {epoch}, and this one is no longer primary")
{
    public const int ExitCode = 75;

    public Epoch Epoch { get; } = epoch;
}
