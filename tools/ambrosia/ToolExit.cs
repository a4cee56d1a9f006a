namespace Ambrosia.Tools;

/// <summary>How the tool ends; the same for every command.</summary>
internal static class ToolExit
{
    public const int Fine = 0;

    /// <summary>Damage, a check that failed, or a difference between two things that should be equal.</summary>
    public const int Damage = 1;

    public const int Misuse = 2;
}
