using Ambrosia.MethodBodies;
using Ambrosia.Suspension;

namespace Ambrosia.State;

/// <summary>
/// Writes an image for another class: for the new version of an immortal, which was made of the old one. Suspended methods of the old class
/// go on as those of the new class with the same names, if their bodies are equal; whoever reads the image checks that. In these methods
/// and in lambdas, <c>this</c> becomes the new immortal. Any other reference to the old one is refused: only its author knows what it means
/// for the new one.
/// </summary>
internal sealed class StateMigration(object from, object to) : IMethodRenames
{
    private readonly Type _was = from.GetType(), _now = to.GetType();

    /// <summary>Returns what stands in the image where <paramref name="instance"/> is referred to.</summary>
    /// <exception cref="NotWritableException">It is the old immortal, and not as the <c>this</c> of one of its methods.</exception>
    internal object Successor(object instance, GraphLocation place)
    {
        if (!ReferenceEquals(instance, from)) return instance;
        return place.IsThisOf(_was) ? to
            : throw new NotWritableException(
                $"{place} refers to the {_was.Name} that is replaced: only its own methods can go on, as those of {_now.Name}");
    }

    /// <summary>
    /// Returns the id of a method of the old class as one of the new class: of that which keeps its body, where the one of its name has
    /// another. Other ids stay as they are.
    /// </summary>
    public string IdOf(MethodBodyRow row)
    {
        if (!IsOfOld(row.Id)) return row.Id;
        string id = _now.FullName + row.Id[_was.FullName!.Length..];
        return MethodBodyTable.Of(_now.Assembly).Known.WithBody(id, row.Il)?.Id ?? id;
    }

    /// <summary>Returns the name of the assembly that has the method now.</summary>
    public string AssemblyOf(string id, string assembly) => IsOfOld(id) ? _now.Assembly.GetName().Name! : assembly;

    /// <summary>Returns the class that stands for another: the new one for the old.</summary>
    internal Type ClassOf(Type type) => type == _was ? _now : type;

    /// <summary>
    /// Returns the name of the class in which the compiler keeps lambdas without captures, or null when the type is not one of the old
    /// class.
    /// </summary>
    internal string? NameOfStatics(Type type) =>
        type.DeclaringType == _was && GeneratedNames.IsStatics(type.Name)
        ? $"{_now.FullName}+{type.Name}, {_now.Assembly.GetName().Name}" : null;

    /// <summary>
    /// Refuses a method with a local whose type is nested in the old class: in the new one it would be of another type, however alike they
    /// look.
    /// </summary>
    /// <exception cref="NotWritableException">There is one.</exception>
    public void Check(MethodBodyRow row, OwnedType made)
    {
        if (!IsOfOld(row.Id)) return;
        string? nested = made.Layout.FirstOrDefault(
            static field => field.Contains("$self+", StringComparison.Ordinal) && !field.Contains("$self+<", StringComparison.Ordinal));
        if (nested is not null)
            throw new NotWritableException(
                $"{row.Signature} keeps {nested.Replace("$self", _was.Name)}: a type nested in {_was.Name} is not that of {_now.Name}; move it out of the class");
    }

    private bool IsOfOld(string id) => id.StartsWith($"{_was.FullName}.", StringComparison.Ordinal);
}
