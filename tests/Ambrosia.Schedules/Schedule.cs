using System.Globalization;
using System.Text;

namespace Ambrosia.Schedules;

/// <summary>
/// Writes and reads the choices of a schedule: the numbers of the threads chosen, in order, where there was a choice. <c>1x5,2,3t</c> is
/// thread 1 five times, thread 2, and the end of the time that thread 3 waits.
/// </summary>
public static class Schedule
{
    public static string Write(IReadOnlyList<Alternative> choices)
    {
        var text = new StringBuilder();
        for (int i = 0, same; i < choices.Count; i += same)
        {
            for (same = 1; i + same < choices.Count && choices[i + same] == choices[i];) same++;
            if (i > 0) text.Append(',');
            text.Append(choices[i]);
            if (same > 1) text.Append(CultureInfo.InvariantCulture, $"x{same}");
        }
        return text.ToString();
    }

    /// <exception cref="FormatException">It is no schedule.</exception>
    public static List<Alternative> Read(string text)
    {
        var choices = new List<Alternative>();
        foreach (string part in text.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
        {
            string[] halves = part.Split('x');
            bool isTimeout = halves[0].EndsWith('t');
            var each = new Alternative(int.Parse(halves[0].TrimEnd('t'), CultureInfo.InvariantCulture), isTimeout);
            int times = halves.Length > 1 ? int.Parse(halves[1], CultureInfo.InvariantCulture) : 1;
            for (int i = 0; i < times; i++) choices.Add(each);
        }
        return choices;
    }
}
