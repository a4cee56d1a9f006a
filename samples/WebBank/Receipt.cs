using Ambrosia;

namespace WebBank;

/// <summary>For money that has been sent elsewhere.</summary>
/// <param name="Amount">In hundredths of the other currency.</param>
/// <param name="Confirmation">What the network said.</param>
[Data]
public sealed record Receipt(Guid Number, DateTimeOffset At, long Amount, string Currency, string Confirmation);
