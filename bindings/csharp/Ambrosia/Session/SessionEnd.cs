using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>Why a session ended.</summary>
/// <param name="ByCoordinator">The coordinator said goodbye; false: this side did.</param>
public sealed record SessionEnd(GoodbyeCode Code, string Why, bool ByCoordinator);
