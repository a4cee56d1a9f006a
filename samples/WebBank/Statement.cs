using Ambrosia;

namespace WebBank;

/// <summary>How an account stands.</summary>
/// <param name="Planned">Transfers that wait for their time.</param>
[Data]
public sealed record Statement(long Number, long Cents, long Views, int Planned);
