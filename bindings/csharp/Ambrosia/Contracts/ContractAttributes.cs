namespace Ambrosia;

/// <summary>
/// Marks an interface as the contract of an immortal, so that its proxy is generated beside it. Needed only where nothing in the
/// project implements the contract or asks for a proxy of it: for instance in an assembly that holds contracts alone.
/// </summary>
[AttributeUsage(AttributeTargets.Interface, Inherited = false)]
public sealed class ContractAttribute : Attribute;

/// <summary>
/// Holds the assembly's contracts as JSON, for other languages' generators and for the log tools. The generator writes it.
/// </summary>
[AttributeUsage(AttributeTargets.Assembly)]
public sealed class ContractManifestAttribute(ulong hash, string json) : Attribute
{
    /// <summary>The FNV-1a 64 hash of <see cref="Json"/> as UTF-8.</summary>
    public ulong Hash { get; } = hash;

    /// <summary>The contracts, as JSON.</summary>
    public string Json { get; } = json;
}

/// <summary>
/// Marks a record, class or struct that may be an argument or a result. Its public properties and fields travel as a map from name
/// (or number, see <see cref="FieldAttribute"/>) to value: unknown ones are skipped, missing ones keep their default (docs/contract.md
/// C3.7). A generic one is a type of its own for each use (C2.4).
/// </summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct, Inherited = false)]
public sealed class DataAttribute : Attribute;

/// <summary>
/// Gives a member of a <see cref="DataAttribute"/> type a number on the wire instead of its name: shorter, and free to be renamed.
/// </summary>
[AttributeUsage(AttributeTargets.Property | AttributeTargets.Field | AttributeTargets.Parameter, Inherited = false)]
public sealed class FieldAttribute(int number) : Attribute
{
    /// <summary>The number: 0 or more, unique within the type.</summary>
    public int Number { get; } = number;
}

/// <summary>
/// Marks a method of a contract as the entry of input from outside (another thread, a console, a sensor): its arguments are logged
/// before the handler sees them. It returns nothing or <see cref="Call"/>, since nobody outside waits for a result.
/// </summary>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class ImpulseHandlerAttribute : Attribute;

/// <summary>
/// Gives a method of a contract its number on the wire, 1 to 2³¹−257, instead of the hash of its name (protocol P4.5). A method keeps
/// its meaning when it is renamed, and numbers below 128 take one byte a message instead of five.
/// </summary>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class MethodIdAttribute(int id) : Attribute
{
    public int Id { get; } = id;
}

/// <summary>
/// Marks a method of a contract that reads: callers outside are answered out of the state of any replica, without the log. It returns its
/// value at once; it changes nothing, sends nothing and awaits nothing.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class QueryAttribute : Attribute;
