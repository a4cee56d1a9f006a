namespace Ambrosia.Suspension;

/// <summary>Gives the writer of an image access to a suspended method, whatever the type of its state machine.</summary>
internal interface ISuspended
{
    Type MachineType { get; }

    /// <summary>The state machine; a copy if it is a struct.</summary>
    object BoxedMachine { get; }

    /// <summary>True once the method has ended: then its result alone is left of it.</summary>
    bool IsDone { get; }

    /// <summary>The class as which an image holds the method once it has ended.</summary>
    Type FinishedType { get; }
}
