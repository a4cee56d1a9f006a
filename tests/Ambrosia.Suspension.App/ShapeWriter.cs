using System.Reflection;

namespace Ambrosia.Suspension.App;

/// <summary>
/// Every handler, with results in two orders, stopped after each of them: the image, and what the rest of the run says. Taking an image
/// must change neither the run nor the next image. One line for each stop: <c>written</c>, <c>void why</c>, or what is wrong.
/// </summary>
internal sealed class ShapeWriter(ImmortalDefinition definition, string directory)
{
    public static readonly string[] Orders = ["oldest", "newest"];
    private const ulong Start = 64;

    public void WriteAll()
    {
        foreach ((string name, uint method) in Methods(definition.Type))
            foreach (string order in Orders) Write(name, method, order == Orders[1]);
    }

    public static IEnumerable<(string Name, uint Method)> Methods(Type immortal) =>
        immortal.GetInterfaces().SelectMany(static contract => contract.GetMethods())
            .Select(
                static method =>
                    (method.Name,
                        Id: method.GetCustomAttributesData()
                            .FirstOrDefault(static each => each.AttributeType == typeof(MethodIdAttribute))?.ConstructorArguments[0].Value))
            .Where(static each => each.Id is not null)
            .Select(static each => (each.Name, Convert.ToUInt32(each.Id, System.Globalization.CultureInfo.InvariantCulture)))
            .OrderBy(static each => each.Item2);

    /// <summary>The run to its end; the last line is the state.</summary>
    public static void Finish(Rig rig, bool newest)
    {
        while (rig.IsPending) rig.Answer(newest);
        rig.Said.Add(
            $"state {(rig.Image() is { } image ? Convert.ToHexString(System.Security.Cryptography.SHA256.HashData(image)) : rig.Void)}");
    }

    private void Write(string name, uint method, bool newest)
    {
        var whole = new Rig(definition, null, [], Start);
        whole.Call(method, 1);
        Finish(whole, newest);
        for (int stop = 0; ; stop++)
        {
            var rig = new Rig(definition, null, [], Start);
            rig.Call(method, 1);
            for (int i = 0; i < stop && rig.IsPending; i++) rig.Answer(newest);
            if (!rig.IsPending) break;
            Console.WriteLine(
                $"{name} {Orders[newest ? 1 : 0]} {stop} {Stop(rig, whole.Said, Path.Combine(directory, $"{name}.{Orders[newest ? 1 : 0]}.{stop}"), newest)}");
        }
    }

    private static string Stop(Rig rig, List<string> whole, string file, bool newest)
    {
        byte[]? image = rig.Image();
        if (image is null) return $"void {rig.Void}";
        if (!image.AsSpan().SequenceEqual(rig.Image())) return "a second image has other bytes";
        int said = rig.Said.Count;
        File.WriteAllBytes($"{file}.image", image);
        File.WriteAllLines($"{file}.pending", [$"{rig.Lsn}", .. rig.PendingLines]);
        Finish(rig, newest);
        if (!rig.Said.SequenceEqual(whole)) return "the image disturbed the run";
        File.WriteAllLines($"{file}.rest", rig.Said.Skip(said));
        return "written";
    }
}
