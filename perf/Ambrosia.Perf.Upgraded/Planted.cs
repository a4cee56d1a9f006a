using Ambrosia.Protocol;

namespace Ambrosia.Perf;

/// <summary>A field that is new in this build: writing it is all of the author's code that runs where a state is converted.</summary>
[StateSerializer(typeof(PlantedSerializer))]
public readonly record struct Planted(uint From);

/// <summary>Has the fault that is planted in this process, and else writes what is there.</summary>
public sealed class PlantedSerializer : IStateSerializer<Planted>
{
    public void Write(ref CborWriter to, Planted value)
    {
        Faults.Converting();
        to.WriteUInt64(value.From);
    }

    public Planted Read(ref CborReader from) => new((uint)from.ReadUInt64());
}
