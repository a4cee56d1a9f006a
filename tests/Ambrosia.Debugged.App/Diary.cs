namespace Ambrosia.Debugged.App;

public interface IDiary
{
    /// <summary>Fills a page, and turns to the next.</summary>
    void Turn(int number);

    void Write(int number);

    /// <summary>Its argument is read by generated code.</summary>
    int Note(int number, Entry entry);

    /// <summary>It is suspended in the middle.</summary>
    Call Read(int number);

    int Sum(int number);
}

[Data]
public sealed record Entry(int Number, List<string> Words);

/// <summary>
/// It has a handler of each form, and calls them all by itself, page by page. The number by which each call can be told from all others is
/// its first argument.
/// </summary>
public sealed partial class Diary : Immortal<IDiaryProxy>, IDiary
{
    private const int Pages = 20, LinesAPage = 8;

    private readonly List<string> _words = [];
    private int _written, _sum;

    protected override void OnFirstStart() => thisProxy.TurnFork(1);

    public void Turn(int number)
    {
        for (int line = 1; line <= LinesAPage; line++)
        {
            int next = (number * 1_000) + (line * 10);
            thisProxy.WriteFork(next);
            thisProxy.NoteFork(next + 1, new Entry(next, ["a", $"{line}"]));
            thisProxy.ReadFork(next + 2);
        }
        if (number < Pages) thisProxy.TurnFork(number + 1);
        else Console.WriteLine("the diary is full");
    }

    public void Write(int number)
    {
        _written = number;
    }

    public int Note(int number, Entry entry)
    {
        _words.AddRange(entry.Words);
        return number;
    }

    public async Call Read(int number)
    {
        _written = number;
        _sum += await thisProxy.SumAsync(number + 1);
    }

    public int Sum(int number)
    {
        return number + _sum;
    }
}
