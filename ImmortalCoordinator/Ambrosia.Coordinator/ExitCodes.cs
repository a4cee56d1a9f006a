using Ambrosia.Log;

namespace Ambrosia.Coordinator;

/// <summary>How the process ends (docs/operating.md).</summary>
public static class ExitCodes
{
    public const int Ok = 0, Misuse = 2, Damage = 65, Divergence = 70, Io = 74, NotPrimary = 75;

    /// <summary>How the process must end after this; null: it need not.</summary>
    internal static int? Of(Exception fatal) => fatal switch
    {
        DivergenceException => Divergence,
        LogDamage => Damage,
        FenceLostException => NotPrimary,
        IOException => Io,
        _ => null,
    };
}
