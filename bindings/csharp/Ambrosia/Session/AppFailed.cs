namespace Ambrosia;

/// <summary>
/// The user's code failed where no caller can be told: in a constructor, in OnFirstStart, in BecomingPrimary, at a restore.
/// </summary>
internal sealed class AppFailed(string what, Exception why) : Exception($"{what}: {why.Message}", why);
