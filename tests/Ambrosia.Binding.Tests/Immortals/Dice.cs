namespace Ambrosia.Binding.Tests;

public interface IDice
{
    [MethodId(1)]
    Guid Throw();
}

/// <summary>What an immortal must not be: it answers from outside the log.</summary>
public sealed partial class Dice : Immortal<IDiceProxy>, IDice
{
    public Guid Throw() => Guid.NewGuid();
}
