using Ambrosia;

namespace Immortal._1;

/// <summary>The contract of the auditor, who hears of every hundred.</summary>
[Contract]
public interface IAuditor
{
    void Passed(long hundred);

    /// <summary>Returns each hundred that was passed, in the order in which the auditor heard of them.</summary>
    [Query]
    long[] Heard();
}
