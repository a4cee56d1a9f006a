using Ambrosia.Protocol.Frames;

namespace Ambrosia;

/// <summary>Says why a session ended, and which side ended it.</summary>
/// <param name="ByCoordinator">The coordinator said goodbye; false: this side did.</param>
public sealed record SessionEnd(GoodbyeCode Code, string Why, bool ByCoordinator);
