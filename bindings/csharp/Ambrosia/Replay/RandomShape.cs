using Ambrosia.Protocol;
using Ambrosia.State;

namespace Ambrosia.Replay;

/// <summary>Writes the immortal's Random by its four words: a local or field that holds it is the same object after a restore.</summary>
internal sealed class RandomShape : ObjectShape
{
    /// <param name="type">Always <see cref="ReplayedRandom"/>.</param>
    public RandomShape(Type type) => _ = type;

    internal override TypeKind Kind => TypeKind.Other;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        (ulong a, ulong b, ulong c, ulong d) = ((ReplayedRandom)instance).State;
        to.WriteArrayHeader(4);
        to.WriteUInt64(a);
        to.WriteUInt64(b);
        to.WriteUInt64(c);
        to.WriteUInt64(d);
    }

    internal override bool IsMadeWhole(GraphReader graph) => true;

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        if (from.ReadArrayHeader() != 4) throw new InvalidDataException("The image holds random numbers of another form.");
        return new ReplayedRandom(from.ReadUInt64(), from.ReadUInt64(), from.ReadUInt64(), from.ReadUInt64());
    }
}
