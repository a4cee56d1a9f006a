using System.ComponentModel;

namespace Ambrosia;

/// <summary>Lets the binding make an immortal without reflection. The generated part of its class implements it.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public interface IImmortal<TSelf>
    where TSelf : Immortal, IImmortal<TSelf>
{
    /// <summary>The FNV-1a 64 hash of the contract's canonical text.</summary>
    static abstract ulong ContractHash { get; }

    /// <summary>Makes an immortal. Only its session may call it.</summary>
    static abstract TSelf Create();
}
