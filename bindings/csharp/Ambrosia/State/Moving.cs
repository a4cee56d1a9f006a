// An image that is written for another class: the new version of an immortal, which was made of the old one. Suspended methods of the old
// class go on as those of the new class with the same names, if their bodies are equal; whoever reads the image checks that. In them, and
// in lambdas, `this` becomes the new immortal. Any other reference to the old one is refused: what it means for the new
// one only its author knows.
namespace Ambrosia;

internal sealed class Moving(Immortal from, Immortal to)
{
    private readonly Type was = from.GetType(), now = to.GetType();

    /// <summary>What stands in the image where <paramref name="instance"/> is referred to.</summary>
    /// <exception cref="NotWritableException">It is the old immortal, and not as the <c>this</c> of one of its methods.</exception>
    internal object Successor(object instance, WritingPlace place)
    {
        if (!ReferenceEquals(instance, from)) return instance;
        return place.IsThisOf(was) ? to
            : throw new NotWritableException(
                $"{place} refers to the {was.Name} that is replaced: only its own methods can go on, as those of {now.Name}");
    }

    /// <summary>The id of a method of the old class as one of the new class; others as they are.</summary>
    internal string IdOf(string id) =>
        id.StartsWith($"{was.FullName}.", StringComparison.Ordinal) ? now.FullName + id[was.FullName!.Length..] : id;

    /// <summary>The name of the assembly that has the method now.</summary>
    internal string AssemblyOf(string id, string assembly) =>
        id.StartsWith($"{was.FullName}.", StringComparison.Ordinal) ? now.Assembly.GetName().Name! : assembly;

    /// <summary>The class that stands for another: the new one for the old.</summary>
    internal Type ClassOf(Type type) => type == was ? now : type;

    /// <summary>Where the compiler keeps lambdas without captures; null: it is not of the old class.</summary>
    internal string? NameOfStatics(Type type) =>
        type.DeclaringType == was && GeneratedNames.IsStatics(type.Name)
        ? $"{now.FullName}+{type.Name}, {now.Assembly.GetName().Name}" : null;

    /// <summary>A local whose type is nested in the old class would be of another type in the new one, however alike they look.</summary>
    /// <exception cref="NotWritableException">There is one.</exception>
    internal void Check(BodyRow row, OwnedType made)
    {
        if (!row.Id.StartsWith($"{was.FullName}.", StringComparison.Ordinal)) return;
        string? nested = made.Layout.FirstOrDefault(
            static field => field.Contains("$self+", StringComparison.Ordinal) && !field.Contains("$self+<", StringComparison.Ordinal));
        if (nested is not null)
            throw new NotWritableException(
                $"{row.Signature} keeps {nested.Replace("$self", was.Name)}: a type nested in {was.Name} is not that of {now.Name}; move it out of the class");
    }
}
