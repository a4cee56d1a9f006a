using Ambrosia;

namespace WebBank;

/// <summary>The receipt for money that was sent elsewhere.</summary>
/// <param name="Amount">The amount in hundredths of the other currency.</param>
/// <param name="Confirmation">The answer of the payment network.</param>
[Data]
public sealed record Receipt(Guid Number, DateTimeOffset At, long Amount, string Currency, string Confirmation);
