using System.Buffers;
using Ambrosia.Protocol.Hashing;
using System.Text;
using Ambrosia.Tasks;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>
/// Restores generated states in a process of its own, and goes on with them: what they answer, enumerate and are written as is what the
/// states say that go on where they were made.
/// </summary>
internal static class GeneratedProcess
{
    private const int OperationsBehind = 50, EditsBetween = 8;

    /// <summary>What ends the text of one state.</summary>
    internal const char End = '\f';

    /// <summary>Reads seeds and images, and says of each how it goes on; where its own image is another one, that.</summary>
    internal static string Follow(string file)
    {
        var told = new StringBuilder();
        using var from = new BinaryReader(File.OpenRead(file));
        // Another thread than the one that the process began with, since its id may stand in what the compiler makes.
        var other = new Thread(() =>
        {
            while (from.BaseStream.Position < from.BaseStream.Length)
            {
                int seed = from.ReadInt32();
                byte[] image = from.ReadBytes(from.ReadInt32());
                if (!Written(GeneratedState.Make(new Random(seed))).AsSpan().SequenceEqual(image)) told.Append("its own image is another\n");
                told.Append(Told(Restored(image), seed, isRestored: true)).Append(End);
            }
        });
        other.Start();
        other.Join();
        return told.ToString();
    }

    /// <summary>Edits a state between checkpoints, and does operations behind the last; returns what all of that says.</summary>
    /// <param name="isRestored">Whether the process ends at each checkpoint, too.</param>
    internal static string Told(GeneratedState state, int seed, bool isRestored)
    {
        var random = new Random(~seed);
        var told = new StringBuilder();
        for (int checkpoints = random.Next(1, 3); checkpoints > 0; checkpoints--)
        {
            for (int i = EditsBetween; i > 0; i--) told.Append(state.Do(random.Next())).Append('\n');
            byte[] image = Written(state);
            told.Append($"image {ChannelHash.Append(0, image)}\n");
            if (isRestored) state = Restored(image);
        }
        for (int i = 0; i < OperationsBehind; i++) told.Append(state.Do(random.Next())).Append('\n');
        told.Append(state.Show()).Append($"\nimage {ChannelHash.Append(0, Written(state))}");
        return told.Replace("\ud800", "half").ToString(); // which a pipe does not carry
    }

    internal static byte[] Written(GeneratedState state)
    {
        var to = new ArrayBufferWriter<byte>();
        ValueImage.Write(to, state);
        return to.WrittenSpan.ToArray();
    }

    internal static GeneratedState Restored(byte[] image) => ValueImage.Read<GeneratedState>(image, static (_, _) => { });
}
