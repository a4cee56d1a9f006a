using System.ComponentModel;

namespace Ambrosia;

/// <summary>Lets the binding make an immortal without reflection. Implemented by the generated part of its class.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public interface IImmortal<TSelf>
    where TSelf : Immortal, IImmortal<TSelf>
{
    /// <summary>FNV-1a 64 of the contract's canonical text.</summary>
    static abstract ulong ContractHash { get; }

    static abstract TSelf Create();
}
