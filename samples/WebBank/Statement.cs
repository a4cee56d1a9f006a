using Ambrosia;

namespace WebBank;

/// <summary>The state of an account.</summary>
/// <param name="Planned">The number of transfers that wait for their time.</param>
[Data]
public sealed record Statement(long Number, long Cents, long Views, int Planned);
