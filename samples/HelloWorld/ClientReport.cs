namespace HelloWorld;

/// <summary>
/// The progress of the client, which is printed as one line: <c>client QUESTION ORDER WANTED MADE ANSWERS WRONG CALLING</c>.
/// </summary>
/// <param name="LastOrder">The last order that it accepted; "-" before the first.</param>
/// <param name="Wanted">The calls that it was ever told to make.</param>
/// <param name="Made">The calls of Hello that it has made.</param>
/// <param name="Answers">The answers that it has awaited and got.</param>
/// <param name="WrongAnswers">The answers that were not the next number.</param>
/// <param name="IsCalling">False once every call is made and every answer is there.</param>
internal sealed record ClientReport(
    string Question, string LastOrder, long Wanted, long Made, long Answers, long WrongAnswers, bool IsCalling)
{
    public override string ToString() =>
        $"client {Question} {(LastOrder.Length == 0 ? "-" : LastOrder)} {Wanted} {Made} {Answers} {WrongAnswers} {(IsCalling ? "calling" : "done")}";

    public static ClientReport? TryParse(string line)
    {
        if (line.Split(
            ' ') is not ["client", string question, string order, string wanted, string made, string answers, string wrong, string calling])
            return null;
        bool isWhole = long.TryParse(wanted, out long w) & long.TryParse(made, out long m) & long.TryParse(answers,
            out long a) & long.TryParse(wrong, out long x);
        return isWhole ? new ClientReport(question, order, w, m, a, x, calling == "calling") : null;
    }
}
