using Ambrosia.Protocol;

namespace Ambrosia.EndToEnd.App;

/// <summary>A field that is new in this build: writing it is all of the author's code that runs where a state is converted.</summary>
[StateSerializer(typeof(PlantedSerializer))]
public readonly record struct Planted(ulong Value);

/// <summary>Has the fault that <c>CONVERSION</c> plants, and else writes what is there.</summary>
public sealed class PlantedSerializer : IStateSerializer<Planted>
{
    private static int s_written;

    public void Write(ref CborWriter to, Planted value)
    {
        switch (Environment.GetEnvironmentVariable("CONVERSION"))
        {
            case "throw": throw new InvalidOperationException("cents are out of fashion");
            case "hang": Thread.Sleep(Timeout.Infinite); break;
            case "die": Environment.FailFast("planted"); break;
            case "other once" when Interlocked.Increment(ref s_written) > 1: Environment.FailFast("planted"); break;
            case "other" or "other once": value = new Planted(7); break;
            case "clock": value = new Planted((ulong)DateTime.UtcNow.Ticks); break;
        }
        to.WriteUInt64(value.Value);
    }

    public Planted Read(ref CborReader from) => new(from.ReadUInt64());
}
