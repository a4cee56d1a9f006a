namespace Ambrosia;

/// <summary>A suspended method, whatever its machine's type.</summary>
internal interface ISuspended
{
    Type MachineType { get; }

    /// <summary>A copy, if the machine is a struct.</summary>
    object BoxedMachine { get; }
}
