namespace Ambrosia.Hosting.App.Newer;

/// <summary>The contract of the till as a later version of it has it, which no immortal here implements.</summary>
[Contract]
public interface ITill
{
    long Pay(long cents);

    long Refund(long cents);
}
