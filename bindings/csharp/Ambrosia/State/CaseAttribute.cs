namespace Ambrosia;

/// <summary>
/// Numbers a case of an interface or abstract class: in checkpoints objects of <paramref name="type"/> are known by this number instead of
/// their name, so that the class can be renamed or moved. An interface that numbers some of its classes numbers all
/// that are ever in the state.
/// </summary>
/// <param name="number">0 or more, unique within the interface; never given to another class.</param>
/// <param name="type">A class or struct that is not generic.</param>
[AttributeUsage(AttributeTargets.Interface | AttributeTargets.Class, AllowMultiple = true, Inherited = false)]
public sealed class CaseAttribute(int number, Type type) : Attribute
{
    public int Number { get; } = number;

    public Type Type { get; } = type;
}
