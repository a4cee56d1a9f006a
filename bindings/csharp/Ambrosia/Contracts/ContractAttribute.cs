namespace Ambrosia;

/// <summary>
/// Marks an interface as the contract of an immortal, so that its proxy is generated beside it. Needed only where nothing in the
/// project implements the contract or asks for a proxy of it: for instance in an assembly that holds contracts alone.
/// </summary>
[AttributeUsage(AttributeTargets.Interface, Inherited = false)]
public sealed class ContractAttribute : Attribute;
